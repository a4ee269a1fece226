//! How far the congestion window of one flow has come: whether slow start is over, and whether what came after it has met
//! the path yet.

use crate::{
    defaults::{KNOWN_GROWTH_MIN, KNOWN_GROWTH_SHARES, KNOWN_REST, KNOWN_REST_ROUND_TRIPS},
    time::nanoseconds,
};

/// `TCP_INFINITE_SSTHRESH`: slow start has not ended yet.
const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// `TCP_CA_Disorder`: up to here nothing is being recovered.
const DISORDER: u8 = 1;

/// What the kernel says of one flow at one moment, as `TCP_INFO` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLook {
    /// Bytes that have arrived at the other end so far: acknowledged, and selectively acknowledged. What is acknowledged
    /// alone stands still while a gap is filled, and then jumps.
    pub arrived_bytes: u64,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Slow-start threshold, in segments; 2147483647 and above: none yet.
    pub ssthresh: u32,
    /// State of congestion avoidance: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Segments retransmitted so far.
    pub retransmits: u32,
    /// Segments delivered with a congestion mark so far.
    pub delivered_ce: u32,
}

/// What became of one flow's window so far.
#[derive(Debug, Default)]
pub struct Settling {
    cwnd: u32,
    /// Since when the window is what it is, and what had arrived then.
    rests: Option<(i64, u64)>,
    resting: bool,
    /// When the window was last seen to be smaller than before.
    fell_ns: i64,
    left_slow_start: bool,
    /// Since slow start was over.
    highest: u32,
    /// When the mean began to count.
    counted_from: Option<u32>,
    met_path: bool,
}

impl Settling {
    /// Takes what is said of the flow at one moment.
    pub fn look(&mut self, at_ns: i64, flow: &FlowLook) {
        let (since_ns, arrived) = match self.rests {
            Some(rests) if self.cwnd == flow.cwnd => rests,
            _ => (at_ns, flow.arrived_bytes),
        };
        let long_ns = nanoseconds(KNOWN_REST).max(KNOWN_REST_ROUND_TRIPS * i64::from(flow.rtt_us) * 1000);
        self.rests = Some((since_ns, arrived));
        if flow.cwnd < self.cwnd {
            self.fell_ns = at_ns;
        }
        self.cwnd = flow.cwnd;
        // A window that bytes pass through and that stays what it is: another limit than the path's holds it.
        self.resting = at_ns - since_ns >= long_ns && flow.arrived_bytes > arrived;
        let above = flow.ssthresh < NO_THRESHOLD && flow.cwnd >= flow.ssthresh && flow.ca_state <= DISORDER;
        self.left_slow_start |= above || self.resting;
        if self.left_slow_start {
            self.highest = self.highest.max(flow.cwnd);
            // Loss, a mark, or a control that turned back by itself, as BBR's and Vegas' do.
            self.met_path |= flow.retransmits > 0 || flow.delivered_ce > 0 || flow.cwnd + 1 < self.highest;
        }
    }

    /// The mean counts from here on, if it did not before.
    pub fn counts(&mut self) {
        self.counted_from.get_or_insert(self.cwnd);
    }

    /// The mean counts anew from here on.
    pub fn counts_anew(&mut self) {
        self.counted_from = Some(self.cwnd);
    }

    /// Whether slow start is over: the window passed its threshold, or rests.
    pub fn has_left_slow_start(&self) -> bool {
        self.left_slow_start
    }

    /// Since when the window rests, if it had only grown since some moment.
    pub fn rests_since(&self, grown_from_ns: i64) -> Option<i64> {
        let (since_ns, _) = self.rests.filter(|_| self.resting && self.fell_ns <= grown_from_ns)?;
        Some(since_ns)
    }

    /// Whether the window has met what limits it, or has grown by so much that goodput would show it: where `HyStart` has
    /// left slow start too early, a window grows by next to nothing for seconds, and then for more than half a minute.
    pub fn has_settled(&self, share: f64) -> bool {
        let growth = KNOWN_GROWTH_MIN.max(KNOWN_GROWTH_SHARES * share);
        let grew = |from: u32| f64::from(self.cwnd) >= f64::from(from) * (1.0 + growth);
        self.met_path || self.resting || self.counted_from.is_some_and(grew)
    }
}
