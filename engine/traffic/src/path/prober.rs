//! Which hop is probed next, with what size, and when: no socket, no clock.
//!
//! Probes are unevenly apart, by half of the mean to three halves: at a fixed distance a probe would always meet the others
//! and their answers at the same places, where it depends on its size how long it waits.
//!
//! Every hop has its own turn and at most one probe under way, so that probes of one hop never queue behind each other.
//! Hosts limit how many errors they send (RFC 1812, 4.3.2.8; Linux: one a second to each address after a burst of six), so
//! a probe without an answer says little: another one is sent in its place, and a hop that left several of its last probes
//! unanswered is asked less often from then on, about as often as it did answer.

use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
};

use super::{
    hop::{Hop, UnderWay},
    hop_row::{HopRow, Seen},
};
use crate::defaults::HOP_TRIES;

/// What is asked of all hops.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many hops.
    pub hops: u8,
    /// Sizes of the probes.
    pub sizes_bytes: Vec<u32>,
    /// Probes of each size at each hop.
    pub probes: u32,
    /// From one probe to the next on average, whichever hop it is of.
    pub every_ns: i64,
    /// How long an answer may take.
    pub timeout_ns: i64,
    /// Of the order of sizes, and of the times between probes.
    pub seed: u64,
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

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send this and say when, with [`Prober::sent`].
    Send(Probe),
    /// Keep this: the probe and those in its place were lost.
    Lost(HopRow),
    /// Nothing, until an answer comes or this moment.
    Wait(i64),
    /// Everything was asked.
    Done,
}

/// What comes next, hop by hop.
pub struct Prober {
    hops: Vec<Hop>,
    under_way: HashMap<u32, Probe>,
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
    /// Nothing asked yet.
    pub fn new(asked: &Asked) -> Self {
        let mut random = fastrand::Rng::with_seed(asked.seed);
        let hops = (0..asked.hops)
            .map(|_| Hop::new(rounds(&asked.sizes_bytes, asked.probes, &mut random), asked.every_ns))
            .collect();
        Self {
            hops,
            under_way: HashMap::new(),
            every_ns: asked.every_ns,
            timeout_ns: asked.timeout_ns,
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
        self.under_way.insert(probe.sequence, probe);
        let hop = &mut self.hops[usize::from(probe.ttl) - 1];
        hop.under_way = Some(UnderWay { sequence: probe.sequence, sent_ns: now_ns });
        hop.due_ns = now_ns + hop.spacing_ns;
        hop.tries += 1;
    }

    /// An answer has come. `seen` is told when its probe was sent. Absent if it came too late, or twice.
    pub fn answered(&mut self, sequence: u32, seen: impl FnOnce(i64) -> Seen) -> Option<HopRow> {
        let probe = self.under_way.remove(&sequence)?;
        let hop = &mut self.hops[usize::from(probe.ttl) - 1];
        let sent_ns = hop.under_way.take()?.sent_ns;
        let seen = seen(sent_ns);
        hop.address = seen.from.or(hop.address);
        hop.remember(sent_ns, true);
        Some(hop.settle(probe, sent_ns, Some(seen)))
    }

    /// Packets of this size cannot be sent: there is no use in more of them.
    pub fn give_up_size(&mut self, size_bytes: u32) {
        for hop in self.hops.iter_mut().filter(|hop| hop.under_way.is_none()) {
            if hop.sizes_bytes.front() == Some(&size_bytes) {
                (hop.tries, hop.lost) = (0, 0);
            }
            hop.sizes_bytes.retain(|size| *size != size_bytes);
        }
    }

    /// The probe that an answer is for which quotes too little to tell: of the hop that has answered from there, or the
    /// only one under way.
    pub fn only_one_for(&self, from: Option<IpAddr>) -> Option<u32> {
        let of_sender = self.hops.iter().find(|hop| from.is_some() && hop.address == from);
        match of_sender {
            Some(hop) => hop.under_way.map(|probe| probe.sequence),
            None if self.under_way.len() == 1 => self.under_way.keys().next().copied(),
            None => None,
        }
    }

    /// The next hop in turn that may be asked now.
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

    /// No answer came in time: another probe goes in its place, unless there were enough.
    fn lose(&mut self, index: usize, lost: UnderWay) -> Option<HopRow> {
        let probe = self.under_way.remove(&lost.sequence)?;
        let hop = &mut self.hops[index];
        hop.under_way = None;
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

/// Every size once a round, in an order of its own: where time runs out, all sizes were asked about as often.
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
mod tests {
    use super::{super::hop_row::Answer, *};
    use crate::defaults::{HOP_SILENT_TRIES, HOP_SPACING_MOST_NS};

    const MILLISECOND: i64 = 1_000_000;

    fn asked() -> Asked {
        Asked {
            hops: 3,
            sizes_bytes: vec![600, 1020, 1440],
            probes: 10,
            every_ns: 5 * MILLISECOND,
            timeout_ns: 1000 * MILLISECOND,
            seed: 3,
        }
    }

    /// Answers as a host that may send a burst of errors, and then one in so long; a hop without burst is silent.
    struct Limit {
        tokens: i64,
        burst: i64,
        every_ns: i64,
        filled_ns: i64,
    }

    impl Limit {
        fn new(burst: i64, every_ns: i64) -> Self {
            Self { tokens: burst, burst, every_ns, filled_ns: 0 }
        }

        fn lets_pass(&mut self, now_ns: i64) -> bool {
            let new = (now_ns - self.filled_ns) / self.every_ns;
            self.tokens = (self.tokens + new).min(self.burst);
            self.filled_ns += new * self.every_ns;
            self.tokens -= i64::from(self.tokens > 0);
            self.tokens > 0 || (self.tokens == 0 && new > 0)
        }
    }

    /// Plays until everything was asked; every answer takes as many milliseconds as the probe goes hops.
    fn play(asked: &Asked, mut answers: impl FnMut(u8, i64) -> bool) -> (Vec<HopRow>, i64) {
        let mut prober = Prober::new(asked);
        let (mut rows, mut now_ns, mut under_way) = (Vec::new(), 0, Vec::<(i64, u32)>::new());
        loop {
            match prober.next(now_ns) {
                Step::Done => return (rows, now_ns),
                Step::Lost(row) => rows.push(row),
                Step::Send(probe) => {
                    prober.sent(probe, now_ns);
                    if answers(probe.ttl, now_ns) {
                        under_way.push((now_ns + i64::from(probe.ttl) * MILLISECOND, probe.sequence));
                    }
                }
                Step::Wait(until_ns) => {
                    assert!(until_ns > now_ns, "a wait for nothing");
                    under_way.sort_unstable();
                    let next = under_way.first().filter(|(at_ns, _)| *at_ns <= until_ns).copied();
                    now_ns = next.map_or(until_ns, |(at_ns, _)| at_ns);
                    if let Some((at_ns, sequence)) = next {
                        under_way.remove(0);
                        let from = Some([192, 0, 2, 1].into());
                        let seen = |sent_ns| Seen { answer: Answer::TimeExceeded, from, rtt_ns: at_ns - sent_ns };
                        rows.extend(prober.answered(sequence, seen));
                    }
                }
            }
            assert!(now_ns < 3_600_000 * MILLISECOND, "it does not come to an end");
        }
    }

    #[test]
    fn every_hop_is_asked_with_every_size_as_often_as_any_other() {
        let (rows, lasted_ns) = play(&asked(), |_, _| true);
        for ttl in 1..=3 {
            for size_bytes in asked().sizes_bytes {
                let of = |row: &&HopRow| row.ttl == ttl && row.size_bytes == size_bytes;
                assert_eq!(rows.iter().filter(of).count(), 10);
            }
        }
        assert!(rows.iter().all(|row| row.seen.is_some_and(|seen| seen.rtt_ns == i64::from(row.ttl) * MILLISECOND)));
        assert!((89..92).contains(&(lasted_ns / (5 * MILLISECOND))), "90 probes in {lasted_ns} ns");
    }

    #[test]
    fn sizes_are_asked_in_rounds() {
        let (rows, _) = play(&asked(), |_, _| true);
        let sizes: Vec<u32> = rows.iter().filter(|row| row.ttl == 2).map(|row| row.size_bytes).collect();
        for round in sizes.chunks(3) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [600, 1020, 1440]);
        }
        assert!(sizes.chunks(3).any(|round| round != &sizes[..3]), "in an order of its own");
    }

    #[test]
    fn probes_are_unevenly_apart_and_no_hop_is_asked_more_often_than_asked_for() {
        let (rows, _) = play(&asked(), |_, _| true);
        let mut sent_ns: Vec<i64> = rows.iter().map(|row| row.sent_ns).collect();
        sent_ns.sort_unstable();
        let mut apart_ns: Vec<i64> = sent_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
        apart_ns.sort_unstable();
        assert!(apart_ns[0] >= 5 * MILLISECOND / 2 && apart_ns[apart_ns.len() - 1] <= 15 * MILLISECOND / 2);
        // Of 89 distances spread evenly from 2.5 to 7.5 ms the quartiles lie at 3.75 and 6.25 ms, give or take 0.23.
        let [lower, upper] = [1, 3].map(|quarter| apart_ns[apart_ns.len() * quarter / 4]);
        assert!(lower < 9 * MILLISECOND / 2 && upper > 11 * MILLISECOND / 2, "{lower} {upper}");
        for ttl in 1..=3 {
            let own: Vec<i64> = rows.iter().filter(|row| row.ttl == ttl).map(|row| row.sent_ns).collect();
            assert!(own.windows(2).all(|pair| pair[1] - pair[0] >= 5 * MILLISECOND));
        }
    }

    #[test]
    fn a_limit_of_answers_is_waited_out_and_nothing_is_lost() {
        // As Linux does: six at once, then one a second.
        let mut limit = Limit::new(6, 1000 * MILLISECOND);
        let (rows, lasted_ns) = play(&asked(), |ttl, now_ns| ttl != 2 || limit.lets_pass(now_ns));
        assert!(rows.iter().all(|row| row.seen.is_some()), "{rows:?}");
        let limited: Vec<_> = rows.iter().filter(|row| row.ttl == 2).collect();
        assert!(limited.iter().all(|row| row.seen.is_some_and(|seen| seen.rtt_ns == 2 * MILLISECOND)));
        let slowest = limited.iter().map(|row| row.spacing_ns).max().unwrap();
        assert!((900..=1500).contains(&(slowest / MILLISECOND)), "{} ms", slowest / MILLISECOND);
        let repeated = limited.iter().filter(|row| row.tries > 1).count();
        assert!(repeated <= 5, "{repeated} of 30 probes went more than once");
        assert!(lasted_ns < 40_000 * MILLISECOND, "30 answers at one a second took {} ms", lasted_ns / MILLISECOND);
        assert!(rows.iter().filter(|row| row.ttl != 2).all(|row| row.spacing_ns == 5 * MILLISECOND));
    }

    #[test]
    fn a_limit_is_waited_out_however_short_the_wait_for_an_answer() {
        let mut limit = Limit::new(6, 1000 * MILLISECOND);
        let asked = Asked { timeout_ns: 50 * MILLISECOND, ..asked() };
        let (rows, _) = play(&asked, |ttl, now_ns| ttl != 2 || limit.lets_pass(now_ns));
        assert!(rows.iter().all(|row| row.seen.is_some()), "{rows:?}");
    }

    #[test]
    fn a_hop_that_falls_silent_is_lost_in_the_end() {
        let (rows, _) = play(&asked(), |ttl, now_ns| ttl != 2 || now_ns < 200 * MILLISECOND);
        let hop: Vec<_> = rows.iter().filter(|row| row.ttl == 2).collect();
        assert_eq!(hop.len(), 30);
        assert!(hop.iter().any(|row| row.seen.is_some()) && hop[29].seen.is_none());
        assert_eq!(hop[29].spacing_ns, HOP_SPACING_MOST_NS);
    }

    #[test]
    fn packets_lost_by_chance_slow_nothing_down() {
        let mut random = fastrand::Rng::with_seed(1);
        let (rows, _) = play(&asked(), |_, _| random.f64() > 0.03);
        assert!(rows.iter().all(|row| row.seen.is_some() && row.spacing_ns == 5 * MILLISECOND));
    }

    #[test]
    fn a_silent_hop_is_given_up_and_is_never_a_number() {
        let (rows, lasted_ns) = play(&asked(), |ttl, _| ttl != 1);
        let silent: Vec<_> = rows.iter().filter(|row| row.ttl == 1).collect();
        assert!(silent.iter().all(|row| row.seen.is_none() && row.tries == HOP_TRIES));
        assert_eq!(silent.len(), HOP_SILENT_TRIES / HOP_TRIES as usize);
        assert!(lasted_ns < 10_000 * MILLISECOND);
        assert_eq!(rows.iter().filter(|row| row.ttl == 2).count(), 30);
    }

    #[test]
    fn an_answer_that_comes_twice_or_too_late_counts_once() {
        let mut prober = Prober::new(&asked());
        let Step::Send(probe) = prober.next(0) else { panic!("nothing to send") };
        prober.sent(probe, 0);
        let seen = |_| Seen { answer: Answer::TimeExceeded, from: None, rtt_ns: 1 };
        assert!(prober.answered(probe.sequence, seen).is_some());
        assert!(prober.answered(probe.sequence, seen).is_none());
        let Step::Send(late) = prober.next(8 * MILLISECOND) else { panic!("nothing to send") };
        prober.sent(late, 8 * MILLISECOND);
        let Step::Send(_) = prober.next(1008 * MILLISECOND) else { panic!("nothing to send") };
        assert!(prober.answered(late.sequence, seen).is_none());
    }

    #[test]
    fn an_answer_that_quotes_too_little_is_for_whom_it_can_only_be() {
        let mut prober = Prober::new(&asked());
        let Step::Send(first) = prober.next(0) else { panic!("nothing to send") };
        prober.sent(first, 0);
        let router = Some([192, 0, 2, 1].into());
        assert_eq!(prober.only_one_for(router), Some(first.sequence), "there is no other");
        let Step::Send(second) = prober.next(8 * MILLISECOND) else { panic!("nothing to send") };
        prober.sent(second, 8 * MILLISECOND);
        assert_eq!(prober.only_one_for(router), None, "it may be of either");
        prober.answered(first.sequence, |_| Seen { answer: Answer::TimeExceeded, from: router, rtt_ns: 1 });
        assert_eq!(prober.only_one_for(router), None, "that hop has no probe under way");
    }

    #[test]
    fn a_size_that_cannot_be_sent_is_given_up_everywhere() {
        let mut prober = Prober::new(&asked());
        prober.give_up_size(1020);
        let mut sizes = std::collections::HashSet::new();
        let mut now_ns = 0;
        while let Step::Send(probe) = prober.next(now_ns) {
            prober.sent(probe, now_ns);
            prober.answered(probe.sequence, |_| Seen { answer: Answer::Other, from: None, rtt_ns: 1 });
            sizes.insert(probe.size_bytes);
            now_ns += 8 * MILLISECOND;
        }
        assert_eq!((sizes, prober.next(now_ns)), ([600, 1440].into(), Step::Done));
    }
}
