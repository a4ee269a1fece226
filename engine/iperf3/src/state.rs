//! The signed byte with which either end moves a test on.

use thiserror::Error;

/// Where a test is. Who says it stands behind each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Streams stand; timers are set. Server.
    TestStart,
    /// Data flows. Server.
    TestRunning,
    /// No more data will come. Client.
    TestEnd,
    /// Parameters are expected. Server.
    ParamExchange,
    /// Streams may be opened. Server.
    CreateStreams,
    /// The server ends the test before its time. Server.
    ServerTerminate,
    /// The client ends the test before its time. Client.
    ClientTerminate,
    /// Results are expected. Server.
    ExchangeResults,
    /// All results were exchanged. Server.
    DisplayResults,
    /// The end. Client.
    IperfDone,
    /// Another test is under way. Server, in place of everything else.
    AccessDenied,
    /// What follows is a [`crate::ServerError`]. Server.
    ServerError,
}

/// A byte that is no state.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown state {0} of iperf3")]
pub struct UnknownState(pub i8);

const CODES: [(State, i8); 12] = [
    (State::TestStart, 1),
    (State::TestRunning, 2),
    (State::TestEnd, 4),
    (State::ParamExchange, 9),
    (State::CreateStreams, 10),
    (State::ServerTerminate, 11),
    (State::ClientTerminate, 12),
    (State::ExchangeResults, 13),
    (State::DisplayResults, 14),
    (State::IperfDone, 16),
    (State::AccessDenied, -1),
    (State::ServerError, -2),
];

impl State {
    /// As it goes over the wire.
    #[must_use]
    pub fn byte(self) -> u8 {
        CODES.iter().find(|(state, _)| *state == self).map_or(0, |(_, code)| code.cast_unsigned())
    }
}

impl TryFrom<u8> for State {
    type Error = UnknownState;

    fn try_from(byte: u8) -> Result<Self, UnknownState> {
        let code = byte.cast_signed();
        CODES.iter().find(|(_, known)| *known == code).map(|(state, _)| *state).ok_or(UnknownState(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_one_state_or_none() {
        let known: Vec<State> = (0..=u8::MAX).filter_map(|byte| State::try_from(byte).ok()).collect();
        assert_eq!(known.len(), CODES.len());
        assert!(known.iter().all(|state| State::try_from(state.byte()) == Ok(*state)));
        assert_eq!((State::AccessDenied.byte(), State::ServerError.byte()), (0xff, 0xfe));
        assert_eq!(State::try_from(3), Err(UnknownState(3)));
    }
}
