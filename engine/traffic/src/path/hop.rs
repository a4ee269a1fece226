//! One hop that is probed: which probes are still to be sent, and how often it answers.

use std::{collections::VecDeque, net::IpAddr};

use super::hop_row::{HopRow, Seen};
use crate::defaults::{HOP_LOST_OF_LAST, HOP_SILENT_TRIES, HOP_SPACING_LEAST_NS, HOP_SPACING_MOST_NS, HOP_WINDOW};

/// One hop: which probes are still to be sent, and how often it answers.
pub struct Hop {
    /// Sizes of the probes that are still to be sent.
    pub sizes_bytes: VecDeque<u32>,
    /// Probes sent for the first of them.
    pub tries: u32,
    /// Of those, the ones that were lost since the spacing has last changed.
    pub lost: u32,
    /// Its outstanding probe.
    pub outstanding: Option<OutstandingProbe>,
    /// From one probe to the next.
    pub spacing_ns: i64,
    /// Before it the hop is not probed.
    pub due_ns: i64,
    /// Its last probes, as far as the spacing has not changed since.
    last: VecDeque<Outcome>,
    /// Where it answered from last.
    pub address: Option<IpAddr>,
}

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its number.
    pub sequence: u32,
    /// How many hops it may go.
    pub ttl: u8,
    /// Size of its IP packet.
    pub size_bytes: u32,
}

/// A probe without a response so far.
#[derive(Clone, Copy)]
pub struct OutstandingProbe {
    /// Its number.
    pub sequence: u32,
    /// When it was sent.
    pub sent_ns: i64,
}

#[derive(Clone, Copy)]
struct Outcome {
    sent_ns: i64,
    answered: bool,
}

impl Hop {
    /// Not probed yet.
    pub fn new(sizes_bytes: VecDeque<u32>, spacing_ns: i64) -> Self {
        Self {
            sizes_bytes,
            tries: 0,
            lost: 0,
            outstanding: None,
            spacing_ns,
            due_ns: i64::MIN,
            last: VecDeque::new(),
            address: None,
        }
    }

    /// Whether it may be probed now.
    pub fn is_ready(&self, now_ns: i64) -> bool {
        self.outstanding.is_none() && now_ns >= self.due_ns && !self.sizes_bytes.is_empty()
    }

    /// Its probe, if no response was received in time.
    pub fn expired(&self, now_ns: i64, timeout_ns: i64) -> Option<OutstandingProbe> {
        self.outstanding.filter(|probe| now_ns >= probe.sent_ns + timeout_ns)
    }

    /// When there may be something to do; `pace_ns`: before it nothing is sent at all.
    pub fn next_event_ns(&self, pace_ns: i64, timeout_ns: i64) -> Option<i64> {
        match self.outstanding {
            Some(probe) => Some(probe.sent_ns + timeout_ns),
            None if self.sizes_bytes.is_empty() => None,
            None => Some(self.due_ns.max(pace_ns)),
        }
    }

    /// Keeps what became of a probe.
    pub fn remember(&mut self, sent_ns: i64, answered: bool) {
        self.last.push_back(Outcome { sent_ns, answered });
        if self.last.len() > HOP_WINDOW {
            self.last.pop_front();
        }
    }

    /// Has never answered, though it was probed often enough.
    pub fn is_silent(&self) -> bool {
        self.address.is_none() && self.last.len() >= HOP_SILENT_TRIES
    }

    /// Probes less often where too many of the last probes had no response. From the first of them on the hop answered
    /// as often as it will: that is the new spacing, if it is longer than the old. Returns whether it is.
    pub fn slow_down(&mut self) -> bool {
        let lost = self.last.iter().filter(|outcome| !outcome.answered).count();
        if self.address.is_none() || lost < HOP_LOST_OF_LAST {
            return false;
        }
        let since: Vec<Outcome> = self.last.iter().copied().skip_while(|outcome| outcome.answered).collect();
        let answers = since.iter().filter(|outcome| outcome.answered).count();
        let lasted_ns = since.last().map_or(0, |last| last.sent_ns) - since.first().map_or(0, |first| first.sent_ns);
        let slower_ns = match i64::try_from(answers) {
            Ok(answers @ 1..) => (lasted_ns / answers).max(self.spacing_ns + self.spacing_ns / 4),
            _ => 2 * self.spacing_ns,
        };
        let before_ns = self.spacing_ns;
        self.spacing_ns = slower_ns.clamp(HOP_SPACING_LEAST_NS, HOP_SPACING_MOST_NS).max(before_ns);
        self.last.clear();
        self.spacing_ns > before_ns
    }

    /// Goes on to the next size.
    pub fn settle(&mut self, probe: Probe, sent_ns: i64, seen: Option<Seen>) -> HopRow {
        let Probe { sequence, ttl, size_bytes } = probe;
        self.sizes_bytes.pop_front();
        self.lost = 0;
        let tries = std::mem::take(&mut self.tries);
        HopRow { sequence, ttl, size_bytes, sent_ns, seen, tries, spacing_ns: self.spacing_ns }
    }
}
