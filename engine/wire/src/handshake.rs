//! How a flow opens: the connecting engine shows the trial's token and the flow's index, the listening engine answers
//! with a second secret. Both secrets come from the controller, so an engine that has seen the other's part knows that
//! the same trial was asked of it. A host that merely echoes cannot answer.

use thiserror::Error;

use crate::Token;

/// Length of the connecting side's part, in bytes: magic, token, flow index.
pub const OPENING_BYTES: usize = 4 + 16 + 4;
/// Length of the listening side's part, in bytes: token, flow index.
pub const ANSWER_BYTES: usize = 16 + 4;

/// The only byte a sink sends once the flow stands: its application has read the flow's first bytes.
pub const RUNNING: u8 = b'R';

const OPENING_MAGIC: [u8; 4] = *b"FSW1";

/// Who a connection claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The trial's secret.
    pub token: Token,
    /// Index of the flow in its trial, from 0.
    pub flow: u32,
}

/// Why a handshake was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HandshakeError {
    /// The first bytes are not those of a Flowsweep engine.
    #[error("not a flowsweep engine")]
    NotAnEngine,
    /// The answer is not the one the controller announced.
    #[error("the answer is not the one of this trial and flow")]
    WrongAnswer,
}

impl Opening {
    /// The connecting side's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; OPENING_BYTES] {
        let mut bytes = [0; OPENING_BYTES];
        bytes[..4].copy_from_slice(&OPENING_MAGIC);
        bytes[4..20].copy_from_slice(&self.token.0);
        bytes[20..].copy_from_slice(&self.flow.to_be_bytes());
        bytes
    }

    /// Reads the connecting side's bytes.
    ///
    /// # Errors
    /// [`HandshakeError::NotAnEngine`] if the magic is missing.
    pub fn decode(bytes: &[u8; OPENING_BYTES]) -> Result<Self, HandshakeError> {
        if bytes[..4] != OPENING_MAGIC {
            return Err(HandshakeError::NotAnEngine);
        }
        let mut token = [0; 16];
        token.copy_from_slice(&bytes[4..20]);
        let flow = u32::from_be_bytes([bytes[20], bytes[21], bytes[22], bytes[23]]);
        Ok(Self { token: Token(token), flow })
    }

    /// The listening side's bytes, with `answer` in place of the token.
    #[must_use]
    pub fn answer(&self, answer: Token) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[..16].copy_from_slice(&answer.0);
        bytes[16..].copy_from_slice(&self.flow.to_be_bytes());
        bytes
    }

    /// Checks the listening side's bytes.
    ///
    /// # Errors
    /// [`HandshakeError::WrongAnswer`] if secret or flow differ.
    pub fn check_answer(&self, answer: Token, bytes: &[u8; ANSWER_BYTES]) -> Result<(), HandshakeError> {
        if *bytes == self.answer(answer) { Ok(()) } else { Err(HandshakeError::WrongAnswer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_opening_survives_the_wire(token: [u8; 16], flow: u32) {
            let opening = Opening { token: Token(token), flow };
            prop_assert_eq!(Opening::decode(&opening.encode()), Ok(opening));
        }

        #[test]
        fn any_bytes_are_refused_or_read_back_the_same(bytes: [u8; OPENING_BYTES]) {
            if let Ok(opening) = Opening::decode(&bytes) {
                prop_assert_eq!(opening.encode(), bytes);
            }
        }
    }

    #[test]
    fn an_echo_is_no_answer() {
        let opening = Opening { token: Token([1; 16]), flow: 3 };
        let mut echo = [0; ANSWER_BYTES];
        echo.copy_from_slice(&opening.encode()[4..]);
        assert_eq!(opening.check_answer(Token([2; 16]), &echo), Err(HandshakeError::WrongAnswer));
        assert_eq!(opening.check_answer(Token([2; 16]), &opening.answer(Token([2; 16]))), Ok(()));
    }

    #[test]
    fn the_answer_of_another_flow_is_refused() {
        let opening = Opening { token: Token([1; 16]), flow: 3 };
        let other = Opening { flow: 4, ..opening };
        let answer = Token([2; 16]);
        assert_eq!(opening.check_answer(answer, &other.answer(answer)), Err(HandshakeError::WrongAnswer));
    }
}
