//! Which hop is probed next, with what size, and when: no socket, no clock.
//!
//! Probes are unevenly apart, by half of the mean to three halves: at a fixed distance a probe would always meet the others
//! and their answers at the same places, where it depends on its size how long it waits.
//!
//! Every hop has its own turn and at most one probe under way, so that probes of one hop never queue behind each other.
//! Hosts limit how many errors they send (RFC 1812, 4.3.2.8; Linux: one a second to each address after a burst of six), so
//! a probe without a response says little: another one is sent in its place, and a hop that left several of its last
//! probes unanswered is probed less often from then on, about as often as it did answer.

use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
};

use wire::defaults::HOP_TRIES;

use super::{
    hop::{Hop, OutstandingProbe, Probe},
    hop_row::{HopRow, Seen},
};

/// The parameters of the probes of all hops.
#[derive(Clone, Debug)]
pub struct ProbeParameters {
    /// How many hops.
    pub hops: u8,
    /// Sizes of the probes.
    pub sizes_bytes: Vec<u32>,
    /// Probes of each size at each hop.
    pub probes: u32,
    /// From one probe to the next on average, whichever hop it is of.
    pub every_ns: i64,
    /// How long a response may take.
    pub timeout_ns: i64,
    /// Of the order of sizes, and of the times between probes.
    pub seed: u64,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send this and say when, with [`Prober::sent`].
    Send(Probe),
    /// Keep this: the probe and those in its place were lost.
    Lost(HopRow),
    /// Wait for a response, until this moment.
    Wait(i64),
    /// All probes were sent.
    Done,
}

/// What comes next, hop by hop.
pub struct Prober {
    hops: Vec<Hop>,
    outstanding: HashMap<u32, Probe>,
    every_ns: i64,
    timeout_ns: i64,
    next_sequence: u32,
    /// Before it nothing is sent.
    due_ns: i64,
    /// The hop whose turn it is.
    turn: usize,
    random: fastrand::Rng,
}

impl Prober {
    /// Nothing sent yet.
    pub fn new(parameters: &ProbeParameters) -> Self {
        let mut random = fastrand::Rng::with_seed(parameters.seed);
        let hops = (0..parameters.hops)
            .map(|_| Hop::new(rounds(&parameters.sizes_bytes, parameters.probes, &mut random), parameters.every_ns))
            .collect();
        Self {
            hops,
            outstanding: HashMap::new(),
            every_ns: parameters.every_ns,
            timeout_ns: parameters.timeout_ns,
            next_sequence: 0,
            due_ns: i64::MIN,
            turn: 0,
            random,
        }
    }

    /// What to do now.
    pub fn next(&mut self, now_ns: i64) -> Step {
        for index in 0..self.hops.len() {
            let expired = self.hops[index].expired(now_ns, self.timeout_ns);
            if let Some(row) = expired.and_then(|lost| self.lose(index, lost)) {
                return Step::Lost(row);
            }
        }
        if self.hops.iter().all(|hop| hop.sizes_bytes.is_empty()) {
            return Step::Done;
        }
        if let Some(probe) = self.send(now_ns) {
            return Step::Send(probe);
        }
        let due = self.hops.iter().filter_map(|hop| hop.next_event_ns(self.due_ns, self.timeout_ns));
        Step::Wait(due.min().unwrap_or(i64::MAX))
    }

    /// A probe from [`Prober::next`] has been sent.
    pub fn sent(&mut self, probe: Probe, now_ns: i64) {
        self.due_ns = now_ns + self.every_ns / 2 + self.random.i64(0..=self.every_ns);
        self.outstanding.insert(probe.sequence, probe);
        let hop = &mut self.hops[usize::from(probe.ttl) - 1];
        hop.outstanding = Some(OutstandingProbe { sequence: probe.sequence, sent_ns: now_ns });
        hop.due_ns = now_ns + hop.spacing_ns;
        hop.tries += 1;
    }

    /// A response was received. `seen` is given when its probe was sent. Absent if it is late, or a duplicate.
    pub fn answered(&mut self, sequence: u32, seen: impl FnOnce(i64) -> Seen) -> Option<HopRow> {
        let probe = self.outstanding.remove(&sequence)?;
        let hop = &mut self.hops[usize::from(probe.ttl) - 1];
        let sent_ns = hop.outstanding.take()?.sent_ns;
        let seen = seen(sent_ns);
        hop.address = seen.from.or(hop.address);
        hop.remember(sent_ns, true);
        Some(hop.settle(probe, sent_ns, Some(seen)))
    }

    /// Packets of this size cannot be sent: there is no use in more of them.
    pub fn give_up_size(&mut self, size_bytes: u32) {
        for hop in self.hops.iter_mut().filter(|hop| hop.outstanding.is_none()) {
            if hop.sizes_bytes.front() == Some(&size_bytes) {
                (hop.tries, hop.lost) = (0, 0);
            }
            hop.sizes_bytes.retain(|size| *size != size_bytes);
        }
    }

    /// The probe of a response that quotes too little to tell: that of the hop which has answered from there, or the only
    /// one outstanding.
    pub fn only_one_for(&self, from: Option<IpAddr>) -> Option<u32> {
        let of_sender = self.hops.iter().find(|hop| from.is_some() && hop.address == from);
        match of_sender {
            Some(hop) => hop.outstanding.map(|probe| probe.sequence),
            None if self.outstanding.len() == 1 => self.outstanding.keys().next().copied(),
            None => None,
        }
    }

    /// The next hop in turn that may be probed now.
    fn send(&mut self, now_ns: i64) -> Option<Probe> {
        if now_ns < self.due_ns {
            return None;
        }
        let count = self.hops.len();
        let ready = |index: &usize| self.hops[*index].is_ready(now_ns);
        let index = (0..count).map(|step| (self.turn + step) % count).find(ready)?;
        self.turn = index + 1;
        let size_bytes = *self.hops[index].sizes_bytes.front()?;
        let ttl = u8::try_from(index + 1).ok()?;
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        Some(Probe { sequence, ttl, size_bytes })
    }

    /// No response was received in time: another probe is sent in its place, unless there were enough.
    fn lose(&mut self, index: usize, lost: OutstandingProbe) -> Option<HopRow> {
        let probe = self.outstanding.remove(&lost.sequence)?;
        let hop = &mut self.hops[index];
        hop.outstanding = None;
        hop.remember(lost.sent_ns, false);
        hop.lost += 1;
        if hop.slow_down() {
            // Those were not lost by chance: they do not count against the next ones, which keep the new distance.
            hop.lost = 0;
            hop.due_ns = lost.sent_ns + hop.spacing_ns;
        }
        if hop.lost < HOP_TRIES {
            return None;
        }
        let row = hop.settle(probe, lost.sent_ns, None);
        if hop.is_silent() {
            hop.sizes_bytes.clear();
        }
        Some(row)
    }
}

/// Every size once a round, in an order of its own: where time runs out, all sizes were sent about as often.
fn rounds(sizes_bytes: &[u32], probes: u32, random: &mut fastrand::Rng) -> VecDeque<u32> {
    let mut all = VecDeque::new();
    for _ in 0..probes {
        let mut round = sizes_bytes.to_vec();
        random.shuffle(&mut round);
        all.extend(round);
    }
    all
}

#[cfg(test)]
mod tests;
