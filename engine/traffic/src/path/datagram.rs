//! The datagrams that the two ends of a measurement of a path exchange after their rendezvous. Each begins with its kind,
//! a number, and a part of the trial's secrets that only its two ends know.

use wire::Token;

/// Bytes of what every datagram begins with.
const HEADER_BYTES: usize = 16;
/// Bytes of the longest datagram, without padding.
pub const LONG_BYTES: usize = HEADER_BYTES + 24;

/// A router quotes at least so much of a probe's payload, or nothing of use.
const QUOTED_LEAST_BYTES: usize = 8;

/// A datagram from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A probe of a hop: whoever receives it answers.
    Probe {
        /// Number of the probe.
        sequence: u32,
    },
    /// One packet of a train or of a stream.
    Packet(Packet),
    /// All packets of this train have been sent.
    TrainEnd {
        /// Number of the train.
        train: u32,
    },
    /// This stream was not sent as it should have been: its packets say nothing.
    Withdraw {
        /// Number of the stream.
        train: u32,
    },
    /// The source has finished.
    Teardown,
}

/// One packet of a train or of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Number of the train or stream in its trial.
    pub train: u32,
    /// Number of the packet in it.
    pub sequence: u32,
    /// The rate it is sent at, in bit/s; none for a train, which goes as fast as it can.
    pub rate_bps: Option<u64>,
    /// When it was sent, in nanoseconds since the source's origin.
    pub sent_ns: i64,
}

/// A datagram from the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// A probe was received.
    Probe {
        /// Number of the probe.
        sequence: u32,
        /// What was left of its time to live.
        hop_limit: u8,
        /// From its arrival to this response, in nanoseconds.
        held_ns: u64,
    },
    /// How a train was received.
    Train {
        /// Number of the train.
        train: u32,
        /// Rates of its two halves, in bit/s; 0 where there were too few packets to tell.
        halves_bps: [u64; 2],
        /// From its first packet to its last, in nanoseconds.
        lasted_ns: u64,
    },
    /// A stream is forgotten.
    Withdrawn {
        /// Number of the stream.
        train: u32,
    },
    /// The sink knows that the source has finished.
    Teardown,
}

const PROBE: u8 = 1;
const PACKET: u8 = 2;
const TRAIN_END: u8 = 3;
const TEARDOWN: u8 = 4;
const PROBE_SEEN: u8 = 5;
const TRAIN_SEEN: u8 = 6;
const TEARDOWN_SEEN: u8 = 7;
const WITHDRAW: u8 = 8;
const WITHDRAWN: u8 = 9;

impl Request {
    /// Writes it to the beginning of a buffer, which has at least [`LONG_BYTES`], or [`HEADER_BYTES`] if it is a probe.
    pub fn write(&self, token: Token, buffer: &mut [u8]) {
        match *self {
            Self::Probe { sequence } => write_header(buffer, PROBE, 0, sequence, token),
            Self::Packet(packet) => {
                write_header(buffer, PACKET, 0, packet.sequence, token);
                write_words(
                    buffer,
                    [packet.train.into(), packet.rate_bps.unwrap_or(0), packet.sent_ns.cast_unsigned()],
                );
            }
            Self::TrainEnd { train } => write_header(buffer, TRAIN_END, 0, train, token),
            Self::Withdraw { train } => write_header(buffer, WITHDRAW, 0, train, token),
            Self::Teardown => write_header(buffer, TEARDOWN, 0, 0, token),
        }
    }

    /// Reads a datagram from the source; absent if it is not of the trial.
    pub fn read(bytes: &[u8], token: Token) -> Option<Self> {
        let (kind, _, number) = read_header(bytes, token)?;
        match kind {
            PROBE => Some(Self::Probe { sequence: number }),
            PACKET => {
                let [train, rate_bps, sent_ns] = read_words(bytes)?;
                let rate_bps = (rate_bps > 0).then_some(rate_bps);
                let train = u32::try_from(train).ok()?;
                Some(Self::Packet(Packet { train, sequence: number, rate_bps, sent_ns: sent_ns.cast_signed() }))
            }
            TRAIN_END => Some(Self::TrainEnd { train: number }),
            WITHDRAW => Some(Self::Withdraw { train: number }),
            TEARDOWN => Some(Self::Teardown),
            _ => None,
        }
    }
}

impl Response {
    /// As it goes over the wire.
    pub fn encode(&self, token: Token) -> [u8; LONG_BYTES] {
        let mut buffer = [0; LONG_BYTES];
        match *self {
            Self::Probe { sequence, hop_limit, held_ns } => {
                write_header(&mut buffer, PROBE_SEEN, hop_limit, sequence, token);
                write_words(&mut buffer, [held_ns, 0, 0]);
            }
            Self::Train { train, halves_bps: [first, second], lasted_ns } => {
                write_header(&mut buffer, TRAIN_SEEN, 0, train, token);
                write_words(&mut buffer, [first, second, lasted_ns]);
            }
            Self::Withdrawn { train } => write_header(&mut buffer, WITHDRAWN, 0, train, token),
            Self::Teardown => write_header(&mut buffer, TEARDOWN_SEEN, 0, 0, token),
        }
        buffer
    }

    /// Reads a datagram from the sink; absent if it is not of the trial.
    pub fn read(bytes: &[u8], token: Token) -> Option<Self> {
        let (kind, hop_limit, number) = read_header(bytes, token)?;
        let words = read_words(bytes)?;
        match kind {
            PROBE_SEEN => Some(Self::Probe { sequence: number, hop_limit, held_ns: words[0] }),
            TRAIN_SEEN => Some(Self::Train { train: number, halves_bps: [words[0], words[1]], lasted_ns: words[2] }),
            WITHDRAWN => Some(Self::Withdrawn { train: number }),
            TEARDOWN_SEEN => Some(Self::Teardown),
            _ => None,
        }
    }
}

/// Number of the probe that a router quotes, maybe only the beginning of it.
pub fn quoted_probe(quoted: &[u8]) -> Option<u32> {
    let (head, _) = quoted.split_at_checked(QUOTED_LEAST_BYTES)?;
    (head[0] == PROBE).then(|| u32::from_be_bytes([head[4], head[5], head[6], head[7]]))
}

fn write_header(buffer: &mut [u8], kind: u8, hop_limit: u8, number: u32, token: Token) {
    buffer[..4].copy_from_slice(&[kind, hop_limit, 0, 0]);
    buffer[4..8].copy_from_slice(&number.to_be_bytes());
    buffer[8..HEADER_BYTES].copy_from_slice(&token.0[..8]);
}

fn read_header(bytes: &[u8], token: Token) -> Option<(u8, u8, u32)> {
    let header: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
    let number = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    (header[8..] == token.0[..8]).then_some((header[0], header[1], number))
}

fn write_words(buffer: &mut [u8], words: [u64; 3]) {
    for (place, word) in buffer[HEADER_BYTES..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}

fn read_words(bytes: &[u8]) -> Option<[u64; 3]> {
    let word = |index: usize| {
        let begin = HEADER_BYTES + 8 * index;
        bytes.get(begin..)?.first_chunk().map(|word| u64::from_be_bytes(*word))
    };
    Some([word(0)?, word(1)?, word(2)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: Token = Token([3; 16]);

    fn requests() -> impl Strategy<Value = Request> {
        let packet = (any::<u32>(), any::<u32>(), proptest::option::of(1_u64..), any::<i64>()).prop_map(
            |(train, sequence, rate_bps, sent_ns)| Request::Packet(Packet { train, sequence, rate_bps, sent_ns }),
        );
        prop_oneof![
            any::<u32>().prop_map(|sequence| Request::Probe { sequence }),
            packet,
            any::<u32>().prop_map(|train| Request::TrainEnd { train }),
            any::<u32>().prop_map(|train| Request::Withdraw { train }),
            Just(Request::Teardown),
        ]
    }

    fn responses() -> impl Strategy<Value = Response> {
        prop_oneof![
            (any::<u32>(), any::<u8>(), any::<u64>()).prop_map(|(sequence, hop_limit, held_ns)| Response::Probe {
                sequence,
                hop_limit,
                held_ns
            }),
            (any::<u32>(), any::<[u64; 2]>(), any::<u64>())
                .prop_map(|(train, halves_bps, lasted_ns)| Response::Train { train, halves_bps, lasted_ns }),
            any::<u32>().prop_map(|train| Response::Withdrawn { train }),
            Just(Response::Teardown),
        ]
    }

    proptest! {
        #[test]
        fn what_is_sent_is_understood(request in requests(), response in responses(), filler in 0_usize..100) {
            let mut buffer = vec![0; LONG_BYTES + filler];
            request.write(TOKEN, &mut buffer);
            prop_assert_eq!(Request::read(&buffer, TOKEN), Some(request));
            prop_assert_eq!(Request::read(&buffer, Token([4; 16])), None);
            prop_assert_eq!(Response::read(&response.encode(TOKEN), TOKEN), Some(response));
            prop_assert_eq!(Response::read(&response.encode(TOKEN), Token([4; 16])), None);
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>) {
            let mut own = bytes.clone();
            if own.len() >= HEADER_BYTES {
                own[8..HEADER_BYTES].copy_from_slice(&TOKEN.0[..8]);
            }
            for bytes in [&bytes, &own] {
                Request::read(bytes, TOKEN);
                Response::read(bytes, TOKEN);
                quoted_probe(bytes);
            }
        }

        #[test]
        fn a_probe_is_known_by_any_useful_quotation(sequence: u32, length in 0..=HEADER_BYTES) {
            let mut buffer = [0; HEADER_BYTES];
            Request::Probe { sequence }.write(TOKEN, &mut buffer);
            let known = (length >= QUOTED_LEAST_BYTES).then_some(sequence);
            prop_assert_eq!(quoted_probe(&buffer[..length]), known);
        }
    }
}
