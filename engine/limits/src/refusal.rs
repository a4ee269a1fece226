//! Refusals in words: which limit, what was asked for, what is allowed, and when it will be.

use std::net::IpAddr;

use thiserror::Error;

use crate::{
    moment::Moment,
    units::{write_duration, write_rate, write_size},
};

/// Why a standing point does not carry out one end of a trial. Nothing of it has left the host.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// The limits, or the files behind them, cannot be used: nobody may measure then.
    #[error("this standing point refuses all trials until its administrator has repaired it: {0}")]
    Broken(String),
    /// No rule is for the peer.
    #[error(
        "this standing point exchanges traffic with the peers of its rules only: {peer} is none of them{}",
        of_controller(*.controller)
    )]
    Peer {
        /// The other end.
        peer: IpAddr,
        /// Where the controller comes from.
        controller: Option<IpAddr>,
    },
    /// No rule is for the controller.
    #[error("this standing point has no rule for {}", from(*.0))]
    Controller(Option<IpAddr>),
    /// Where the other end is could not be found out.
    #[error("this standing point cannot find out who the other end is: {0}")]
    Unresolved(String),
    /// It cannot be bounded here.
    #[error("this standing point does not carry out {what}: {why}")]
    Unbounded {
        /// What was asked for.
        what: String,
        /// Why it cannot be bounded, and what can be done.
        why: &'static str,
    },
    /// A limit of a rule.
    #[error("rule {rule} of this standing point: asked for {asked}, allowed {allowed} (`{key}`){}", then(*.free))]
    Limit {
        /// Name of the rule.
        rule: String,
        /// Key of the limits file.
        key: &'static str,
        /// What was asked for.
        asked: String,
        /// What is allowed.
        allowed: String,
        /// When it will be, if time alone changes it.
        free: Option<Moment>,
    },
    /// Other controllers measure.
    #[error("this standing point is busy with {who}; what runs there ends at {} at the latest{}{}", .until.rfc3339(), others(*.ahead), waited(*.waited_ms))]
    Busy {
        /// Who measures, and what.
        who: String,
        /// When what runs in the first turn is over, at the latest; who has the turn may begin more until then.
        until: Moment,
        /// Controllers that waited longer.
        ahead: usize,
        /// How long it waited, in milliseconds.
        waited_ms: u64,
    },
    /// The trial was stopped while it waited for its turn.
    #[error("stopped while it waited for its turn at this standing point")]
    Stopped,
}

impl Refusal {
    /// A word that programs can compare.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Broken(_) => "point_broken",
            Self::Busy { .. } => "point_busy",
            Self::Stopped => "stopped",
            _ => "point_refused",
        }
    }

    /// More flows than allowed.
    pub(crate) fn flows(rule: &str, asked: u64, most: u32) -> Self {
        Self::limit(rule, "flows", format!("{asked} flows at once"), format!("at most {most}"), None)
    }

    /// More samples a second than allowed.
    pub(crate) fn samples(rule: &str, asked: u64, most: u64) -> Self {
        let allowed = format!("at most {most}: state a longer `sample_interval`");
        Self::limit(rule, "flows", format!("{asked} samples a second of all flows"), allowed, None)
    }

    /// A higher rate than allowed.
    pub(crate) fn rate(rule: &str, asked_bps: u64, most_bps: u64) -> Self {
        let asked = format!("{} of all flows", write_rate(asked_bps));
        Self::limit(rule, "rate", asked, format!("at most {}", write_rate(most_bps)), None)
    }

    /// A longer trial than allowed.
    pub(crate) fn duration(rule: &str, asked_us: u64, most_us: u64) -> Self {
        let allowed = format!("at most {}", write_duration(most_us));
        Self::limit(rule, "duration", format!("a trial of {}", write_duration(asked_us)), allowed, None)
    }

    /// More bytes than are left.
    pub(crate) fn bytes(rule: &str, asked: u64, used: u64, most: u64, now: Moment) -> Self {
        let left = write_size(most.saturating_sub(used));
        let allowed = format!("at most {left}: of {} a day that is left", write_size(most));
        let free = (asked <= most).then(|| now.next_day());
        Self::limit(rule, "bytes_per_day", format!("up to {}", write_size(asked)), allowed, free)
    }

    /// Something that a rule does not allow.
    pub(crate) fn limit(rule: &str, key: &'static str, asked: String, allowed: String, free: Option<Moment>) -> Self {
        Self::Limit { rule: rule.into(), key, asked, allowed, free }
    }
}

fn from(controller: Option<IpAddr>) -> String {
    controller.map_or("controllers of which it is not known where they come from".into(), |address| {
        format!("controllers that come from {address}")
    })
}

fn of_controller(controller: Option<IpAddr>) -> String {
    controller.map_or(String::new(), |address| format!(" for a controller that comes from {address}"))
}

fn then(free: Option<Moment>) -> String {
    free.map_or(String::new(), |moment| format!("; again at {}", moment.rfc3339()))
}

fn others(ahead: usize) -> String {
    match ahead {
        0 => String::new(),
        1 => ", and another controller waits".into(),
        more => format!(", and {more} other controllers wait"),
    }
}

fn waited(waited_ms: u64) -> String {
    match waited_ms {
        0 => String::new(),
        waited => format!("; waited {} s for it", waited.div_ceil(1000)),
    }
}
