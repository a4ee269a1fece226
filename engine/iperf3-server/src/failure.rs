//! Why a test did not end as it should.

use std::io;

use iperf3::ErrorCode;

use crate::control::ControlError;

/// Why a test did not end as it should.
#[derive(Debug)]
pub enum Failure {
    /// The client is gone, or said what nobody understands.
    Control(ControlError),
    /// The client ended it.
    ClientTerminated,
    /// The server is to end.
    ServerStops,
    /// The server ends it, with iperf3's number and the system's.
    Refused(ErrorCode, i32),
}

impl Failure {
    /// With the system's reason.
    pub fn refused(code: ErrorCode, error: &io::Error) -> Self {
        Self::Refused(code, error.raw_os_error().unwrap_or(0))
    }

    /// In a word, and in more if there is more to say.
    pub fn words(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Control(error) => ("client_gone", Some(error.to_string())),
            Self::ClientTerminated => ("client_terminated", None),
            Self::ServerStops => ("server_terminated", None),
            Self::Refused(code, errno) => {
                ("failed", Some(iperf3::ServerError { code: *code, errno: *errno }.to_string()))
            }
        }
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Stops => Self::ServerStops,
            error => Self::Control(error),
        }
    }
}
