//! iperf3's numbers for what went wrong (`i_errno`), in words.

use std::{fmt, io};

/// What went wrong, as iperf3 counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub i32);

/// What a server says behind [`crate::State::ServerError`]: two `i32`, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// What went wrong.
    pub code: ErrorCode,
    /// `errno` of its system at that moment, 0 if there was none.
    pub errno: i32,
}

impl ErrorCode {
    /// The duration is longer than the server allows at all.
    pub const DURATION: Self = Self(5);
    /// More streams than are allowed.
    pub const STREAMS: Self = Self(6);
    /// Writes of this length are not allowed.
    pub const BLOCK_SIZE: Self = Self(7);
    /// The socket buffer is too large.
    pub const BUFFER_SIZE: Self = Self(8);
    /// The segment size is too large.
    pub const MSS: Self = Self(10);
    /// Datagrams of this length are not allowed.
    pub const DATAGRAM_SIZE: Self = Self(20);
    /// The rate of all streams is over the server's limit.
    pub const TOTAL_RATE: Self = Self(27);
    /// The duration is over the server's limit.
    pub const SERVER_DURATION: Self = Self(37);
    /// Parameters could not be read.
    pub const PARAMS: Self = Self(114);
    /// Results could not be read.
    pub const RESULTS: Self = Self(117);
    /// What was said is not allowed at this point.
    pub const MESSAGE: Self = Self(110);
    /// Such a protocol is not known.
    pub const PROTOCOL: Self = Self(131);
    /// The congestion control is not to be had.
    pub const CONGESTION: Self = Self(134);
    /// User or password are wrong.
    pub const AUTHENTICATION: Self = Self(142);
    /// No data was received for too long.
    pub const NO_DATA: Self = Self(144);
    /// The test lasted longer than it may.
    pub const EXPIRED: Self = Self(160);
    /// A stream could not be made.
    pub const STREAM: Self = Self(200);
    /// A stream cannot be written to.
    pub const WRITE: Self = Self(205);

    /// In words.
    #[must_use]
    pub fn words(self) -> Option<&'static str> {
        Some(match self.0 {
            5 => "the duration is longer than a day",
            6 => "too many parallel streams",
            7 => "the write length is too large",
            8 => "the window is too large",
            10 => "the segment size (MSS) is too large",
            12 => "the beginning that is to be left out is too long",
            13 => "it cannot do that",
            15 => "the burst is too large",
            16 => "more than one end was set (time, bytes, blocks)",
            18 => "it has no SCTP",
            20 => "datagrams cannot have this length",
            21 => "the type of service is not valid",
            25 => "a test is either reverse or bidirectional",
            27 => "the rate of all streams is over its limit",
            37 => "the duration is over its limit",
            106 => "it could not read the test's name (cookie)",
            107 => "it could not write on the control connection",
            108 => "it could not read from the control connection",
            109 => "the control connection closed unexpectedly",
            110 => "it did not understand a message",
            111 => "it could not send a message",
            112 => "it could not receive a message",
            114 => "it could not read the parameters",
            115 => "it could not put its results together",
            116 => "it could not send its results",
            117 => "it could not read the results",
            119 => "the client ended the test",
            120 => "it ended the test, or was ended",
            121 => "it is busy with another test",
            122 => "it could not set TCP_NODELAY",
            123 => "it could not set the segment size (TCP_MAXSEG)",
            124 => "it could not set the size of a socket buffer",
            125 => "it could not set the type of service",
            130 => "it could not set the window",
            131 => "it does not know the protocol",
            132 => "it could not bind itself to a processor",
            134 => "it could not set the congestion control",
            140 => "it could not set the pacing rate",
            141 => "the size of a socket buffer is not what was asked for (net.core.rmem_max, wmem_max)",
            142 => "user name or password are wrong",
            144 => "no data reached it for too long",
            145 => "it could not forbid fragments",
            160 => "the test lasted longer than it allows",
            200 => "it could not make a stream",
            201 => "it could not set up a stream",
            202 => "it could not listen for streams",
            203 => "it could not connect a stream",
            204 => "it could not accept a stream",
            205 => "it could not write to a stream",
            206 => "it could not read from a stream",
            207 => "a stream closed unexpectedly",
            208 => "a stream has a wrong number",
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(formatter, "{words} (iperf3's error {})", self.0),
            None => write!(formatter, "iperf3's error {}", self.0),
        }
    }
}

impl ServerError {
    /// Length behind the state, in bytes.
    pub const BYTES: usize = 8;
    /// What some versions say less of where they refuse a user: the code alone.
    pub const CODE_BYTES: usize = 4;

    /// Reads what follows the state.
    #[must_use]
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let (code, errno) = bytes.split_at(4);
        let number = |half: &[u8]| half.iter().fold(0_i32, |number, byte| number << 8 | i32::from(*byte));
        Self { code: ErrorCode(number(code)), errno: number(errno) }
    }

    /// As it goes over the wire, behind the state.
    #[must_use]
    pub fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.code.0.to_be_bytes());
        bytes[4..].copy_from_slice(&self.errno.to_be_bytes());
        bytes
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errno {
            0 => write!(formatter, "{}", self.code),
            errno => write!(formatter, "{}: {}", self.code, io::Error::from_raw_os_error(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_said_is_read(code: i32, errno: i32) {
            let error = ServerError { code: ErrorCode(code), errno };
            prop_assert_eq!(ServerError::decode(error.encode()), error);
        }
    }

    #[test]
    fn an_error_is_told_in_words() {
        let error = ServerError { code: ErrorCode::CONGESTION, errno: 2 };
        assert_eq!(
            error.to_string(),
            "it could not set the congestion control (iperf3's error 134): No such file or directory (os error 2)"
        );
        assert_eq!(ErrorCode(999).to_string(), "iperf3's error 999");
    }
}
