//! What may go wrong between this engine and an iperf3 server.

use std::time::Duration;

use iperf3::{FrameError, ServerError};
use thiserror::Error;

/// What went wrong with an iperf3 server.
#[derive(Debug, Error)]
pub enum Trouble {
    /// It has another test all the time.
    #[error("it is busy with another test, and still was after {} s; try later, or ask it elsewhere", .0.as_secs_f64())]
    Busy(Duration),
    /// It accepted each connection and closed it, and said nothing.
    #[error(
        "it accepted and hung up each time for {} s: it is busy, or no iperf3 server listens there", .0.as_secs_f64()
    )]
    HungUp(Duration),
    /// Nothing came of what it was to send beside what it receives.
    #[error("{0}; nothing came from it: before iperf3 3.7 a server takes no test in both directions at once")]
    OneWay(String),
    /// It says what is wrong.
    #[error("it refused: {0}")]
    Refused(ServerError),
    /// It hung up on the parameters: newer versions do so in place of saying that they refuse a user.
    #[error(
        "it hung up on what it was asked for, and did not say why; newer servers do so where {}",
        if *.login { "user, password, key or clock are not right" } else { "they want to know who asks" }
    )]
    Declined {
        /// Whether a login was sent to it.
        login: bool,
    },
    /// It sends with another congestion control, and says so only in its results.
    #[error("it sent with the congestion control {used}, {requested} was asked for; that one is not to be had there")]
    Congestion {
        /// The one that was requested.
        requested: String,
        /// What it has used.
        used: String,
    },
    /// It ended the test before its time.
    #[error("it ended the test before its time")]
    Terminated,
    /// Nothing was received.
    #[error("{awaited} was not received within {} s; is another program listening there?", timeout.as_secs_f64())]
    Silent {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        timeout: Duration,
    },
    /// The control connection is gone.
    #[error("the control connection ended where {awaited} was due: {reason}")]
    Lost {
        /// What was waited for.
        awaited: &'static str,
        /// The kernel's word for it.
        reason: String,
    },
    /// It said something else.
    #[error("it sent {said} where {awaited} was due; is another program listening there?")]
    Unexpected {
        /// What was waited for.
        awaited: &'static str,
        /// What was received.
        said: String,
    },
    /// Its report of the test cannot be understood.
    #[error("its results: {0}")]
    Results(#[from] FrameError),
}

impl Trouble {
    /// A word that programs can compare.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy(_) => "iperf3_busy",
            Self::HungUp(_) => "iperf3_hung_up",
            Self::OneWay(_) => "iperf3_one_way",
            Self::Refused(_) => "iperf3_refused",
            Self::Declined { .. } => "iperf3_declined",
            Self::Congestion { .. } => "iperf3_congestion",
            Self::Terminated => "iperf3_terminated",
            Self::Silent { .. } => "iperf3_silent",
            Self::Lost { .. } => "iperf3_lost",
            Self::Unexpected { .. } => "iperf3_unexpected",
            Self::Results(_) => "iperf3_results",
        }
    }
}
