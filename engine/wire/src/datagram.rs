//! The datagrams of one flow once it stands: numbered ones from the source, and words from one end to the other. Each
//! begins with the same header, whose tag only the two engines of the trial can know.

use crate::Token;

/// Length of every datagram's header, in bytes; a word has nothing else.
pub const DATAGRAM_HEADER_BYTES: usize = 32;
/// Largest payload that fits an IPv4 packet, in bytes.
pub const DATAGRAM_MAX_BYTES: u32 = 65_507;

const MAGIC: [u8; 3] = *b"FSU";

/// What a datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// From a source: one of the numbered ones. Its number counts from 0.
    Data,
    /// From a source: carries no number, and is not counted. Tries out what the kernel can do.
    Trial,
    /// From a source: it has stopped. The number is how many it has sent.
    End,
    /// From a sink: its application has received one of the flow's datagrams.
    Running,
    /// From a sink: it knows that the source has stopped.
    Ended,
}

/// The beginning of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramHeader {
    /// What it is.
    pub kind: DatagramKind,
    /// Index of the flow.
    pub flow: u32,
    /// Of the trial, see [`datagram_tag`].
    pub tag: u64,
    /// Its number.
    pub sequence: u64,
    /// When it was handed to the kernel, by the sender's wall clock as it went on from the trial's
    /// origin, whatever it was set to since, in nanoseconds since 1970 UTC.
    pub sent_unix_ns: i64,
}

/// What a trial's datagrams show instead of its secrets, so that nobody who sees one can open a flow.
#[must_use]
pub fn datagram_tag(token: Token, answer: Token) -> u64 {
    let words = [token, answer].map(|Token(bytes)| {
        let (first, second) = bytes.split_at(8);
        let word = |half: &[u8]| half.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        (word(first), word(second))
    });
    // One word of sixteen bytes, half of each secret: neither can be computed back from it.
    words[0].0 ^ words[1].1.rotate_left(17)
}

impl DatagramHeader {
    /// As it goes over the wire.
    #[must_use]
    pub fn encode(&self) -> [u8; DATAGRAM_HEADER_BYTES] {
        let mut bytes = [0; DATAGRAM_HEADER_BYTES];
        bytes[..3].copy_from_slice(&MAGIC);
        bytes[3] = self.kind.letter();
        bytes[4..8].copy_from_slice(&self.flow.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.tag.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[24..].copy_from_slice(&self.sent_unix_ns.to_be_bytes());
        bytes
    }

    /// Reads the beginning of a datagram; nothing if it is not one of an engine's.
    #[must_use]
    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (header, _) = bytes.split_first_chunk::<DATAGRAM_HEADER_BYTES>()?;
        let (magic, rest) = header.split_first_chunk::<4>()?;
        let kind = DatagramKind::of(*magic)?;
        let (flow, rest) = rest.split_first_chunk()?;
        let (tag, rest) = rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (sent_unix_ns, _) = rest.split_first_chunk()?;
        Some(Self {
            kind,
            flow: u32::from_be_bytes(*flow),
            tag: u64::from_be_bytes(*tag),
            sequence: u64::from_be_bytes(*sequence),
            sent_unix_ns: i64::from_be_bytes(*sent_unix_ns),
        })
    }
}

impl DatagramKind {
    fn letter(self) -> u8 {
        match self {
            Self::Data => b'D',
            Self::Trial => b'T',
            Self::End => b'E',
            Self::Running => b'R',
            Self::Ended => b'A',
        }
    }

    fn of(magic: [u8; 4]) -> Option<Self> {
        let [first, second, third, letter] = magic;
        if [first, second, third] != MAGIC {
            return None;
        }
        [Self::Data, Self::Trial, Self::End, Self::Running, Self::Ended]
            .into_iter()
            .find(|kind| kind.letter() == letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_kind() -> impl Strategy<Value = DatagramKind> {
        use DatagramKind::{Data, End, Ended, Running, Trial};
        prop::sample::select(vec![Data, Trial, End, Running, Ended])
    }

    proptest! {
        #[test]
        fn a_header_survives_the_wire(
            kind in any_kind(), flow: u32, tag: u64, sequence: u64, sent_unix_ns: i64, rest: Vec<u8>,
        ) {
            let header = DatagramHeader { kind, flow, tag, sequence, sent_unix_ns };
            let mut bytes = header.encode().to_vec();
            bytes.extend(rest);
            prop_assert_eq!(DatagramHeader::decode(&bytes), Some(header));
        }

        #[test]
        fn any_bytes_are_refused_or_read_back_the_same(mut bytes: Vec<u8>, magic: bool, letter in any_kind()) {
            if magic && bytes.len() >= 4 {
                bytes[..3].copy_from_slice(&MAGIC);
                bytes[3] = letter.letter();
            }
            match DatagramHeader::decode(&bytes) {
                Some(header) => prop_assert_eq!(&header.encode()[..], &bytes[..DATAGRAM_HEADER_BYTES]),
                None => prop_assert!(!magic || bytes.len() < DATAGRAM_HEADER_BYTES),
            }
        }

        #[test]
        fn a_trials_tag_depends_on_both_secrets(token: [u8; 16], answer: [u8; 16], bit in 0..8_usize) {
            let tag = datagram_tag(Token(token), Token(answer));
            let (mut other_token, mut other_answer) = (token, answer);
            other_token[bit] ^= 1;
            other_answer[8 + bit] ^= 1;
            prop_assert_ne!(tag, datagram_tag(Token(other_token), Token(answer)));
            prop_assert_ne!(tag, datagram_tag(Token(token), Token(other_answer)));
        }
    }
}
