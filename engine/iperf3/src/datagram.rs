//! The datagrams of one stream: a pair that opens it, then numbered ones.

/// What a client opens a stream with.
pub const OPENING: [u8; 4] = *b"9876";
/// What the server answers.
pub const REPLY: [u8; 4] = *b"6789";
/// The same before version 3.9: 123456789 as little-endian `i32`.
pub const LEGACY_OPENING: [u8; 4] = 123_456_789_i32.to_le_bytes();
/// The same before version 3.9: 987654321 as little-endian `i32`.
pub const LEGACY_REPLY: [u8; 4] = 987_654_321_i32.to_le_bytes();

const MICROSECONDS_PER_S: u32 = 1_000_000;

/// The reply that a datagram asks for which opens a stream; none if it does not.
#[must_use]
pub fn opens_stream(datagram: &[u8]) -> Option<[u8; 4]> {
    match <[u8; 4]>::try_from(datagram).ok()? {
        OPENING => Some(REPLY),
        LEGACY_OPENING => Some(LEGACY_REPLY),
        _ => None,
    }
}

/// Whether a datagram is the server's reply to an opening.
#[must_use]
pub fn replies_to_opening(datagram: &[u8]) -> bool {
    datagram == REPLY || datagram == LEGACY_REPLY
}

/// How wide the numbers of datagrams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// 32 bits: begins again after 4 294 967 295.
    Narrow,
    /// 64 bits.
    Wide,
}

impl Counter {
    /// Length of the header, in bytes.
    #[must_use]
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Narrow => 12,
            Self::Wide => 16,
        }
    }
}

/// The beginning of a numbered datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramHeader {
    /// When it was sent, by the sender's monotonic clock, in microseconds.
    pub sent_us: u64,
    /// Its number, from 1; of a [`Counter::Narrow`] one, modulo 2³².
    pub sequence: u64,
}

impl DatagramHeader {
    /// Writes the header to the beginning of a datagram.
    ///
    /// # Panics
    /// If the datagram is shorter than [`Counter::header_bytes`].
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is left out, as the protocol has it")]
    pub fn write(&self, counter: Counter, datagram: &mut [u8]) {
        let seconds = (self.sent_us / u64::from(MICROSECONDS_PER_S)) as u32;
        let microseconds = (self.sent_us % u64::from(MICROSECONDS_PER_S)) as u32;
        datagram[..4].copy_from_slice(&seconds.to_be_bytes());
        datagram[4..8].copy_from_slice(&microseconds.to_be_bytes());
        match counter {
            Counter::Narrow => datagram[8..12].copy_from_slice(&(self.sequence as u32).to_be_bytes()),
            Counter::Wide => datagram[8..16].copy_from_slice(&self.sequence.to_be_bytes()),
        }
    }

    /// Reads the header; nothing if the datagram is too short, or its time is none.
    #[must_use]
    pub fn read(counter: Counter, datagram: &[u8]) -> Option<Self> {
        let (seconds, rest) = datagram.split_first_chunk::<4>()?;
        let (microseconds, rest) = rest.split_first_chunk::<4>()?;
        let sequence = match counter {
            Counter::Narrow => u64::from(u32::from_be_bytes(*rest.first_chunk()?)),
            Counter::Wide => u64::from_be_bytes(*rest.first_chunk()?),
        };
        let microseconds = u32::from_be_bytes(*microseconds);
        let seconds = u64::from(u32::from_be_bytes(*seconds));
        (microseconds < MICROSECONDS_PER_S)
            .then(|| Self { sent_us: seconds * u64::from(MICROSECONDS_PER_S) + u64::from(microseconds), sequence })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(sent_us in 0..(u64::from(u32::MAX) * 1_000_000), sequence: u64, wide: bool) {
            let counter = if wide { Counter::Wide } else { Counter::Narrow };
            let sequence = if wide { sequence } else { sequence & 0xffff_ffff };
            let header = DatagramHeader { sent_us, sequence };
            let mut datagram = [0; 20];
            header.write(counter, &mut datagram);
            prop_assert_eq!(DatagramHeader::read(counter, &datagram), Some(header));
        }

        #[test]
        fn whatever_comes_is_a_header_or_none(datagram: Vec<u8>) {
            for counter in [Counter::Narrow, Counter::Wide] {
                let short = datagram.len() < counter.header_bytes();
                prop_assert!(!short || DatagramHeader::read(counter, &datagram).is_none());
            }
        }
    }

    #[test]
    fn openings_old_and_new_have_their_replies() {
        assert_eq!(opens_stream(b"9876"), Some(*b"6789"));
        assert_eq!(opens_stream(&[0x15, 0xcd, 0x5b, 0x07]), Some([0xb1, 0x68, 0xde, 0x3a]));
        assert_eq!(opens_stream(b"98765"), None);
        assert!(replies_to_opening(b"6789") && !replies_to_opening(b"9876"));
    }
}
