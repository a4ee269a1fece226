//! Played in virtual time.

use super::{super::hop_row::Answer, *};
use crate::defaults::{HOP_SILENT_TRIES, HOP_SPACING_MOST_NS};

const MILLISECOND: i64 = 1_000_000;

fn parameters() -> ProbeParameters {
    ProbeParameters {
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

/// Plays until all probes were sent; a response takes as many milliseconds as its probe goes hops.
fn play(parameters: &ProbeParameters, mut answers: impl FnMut(u8, i64) -> bool) -> (Vec<HopRow>, i64) {
    let mut prober = Prober::new(parameters);
    let (mut rows, mut now_ns, mut outstanding) = (Vec::new(), 0, Vec::<(i64, u32)>::new());
    loop {
        match prober.next(now_ns) {
            Step::Done => return (rows, now_ns),
            Step::Lost(row) => rows.push(row),
            Step::Send(probe) => {
                prober.sent(probe, now_ns);
                if answers(probe.ttl, now_ns) {
                    outstanding.push((now_ns + i64::from(probe.ttl) * MILLISECOND, probe.sequence));
                }
            }
            Step::Wait(until_ns) => {
                assert!(until_ns > now_ns, "a wait for nothing");
                outstanding.sort_unstable();
                let next = outstanding.first().filter(|(at_ns, _)| *at_ns <= until_ns).copied();
                now_ns = next.map_or(until_ns, |(at_ns, _)| at_ns);
                if let Some((at_ns, sequence)) = next {
                    outstanding.remove(0);
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
fn every_hop_is_probed_with_every_size_as_often_as_any_other() {
    let (rows, lasted_ns) = play(&parameters(), |_, _| true);
    for ttl in 1..=3 {
        for size_bytes in parameters().sizes_bytes {
            let of = |row: &&HopRow| row.ttl == ttl && row.size_bytes == size_bytes;
            assert_eq!(rows.iter().filter(of).count(), 10);
        }
    }
    assert!(rows.iter().all(|row| row.seen.is_some_and(|seen| seen.rtt_ns == i64::from(row.ttl) * MILLISECOND)));
    assert!((89..92).contains(&(lasted_ns / (5 * MILLISECOND))), "90 probes in {lasted_ns} ns");
}

#[test]
fn sizes_are_sent_in_rounds() {
    let (rows, _) = play(&parameters(), |_, _| true);
    let sizes: Vec<u32> = rows.iter().filter(|row| row.ttl == 2).map(|row| row.size_bytes).collect();
    for round in sizes.chunks(3) {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [600, 1020, 1440]);
    }
    assert!(sizes.chunks(3).any(|round| round != &sizes[..3]), "in an order of its own");
}

#[test]
fn probes_are_unevenly_apart_and_no_hop_is_probed_more_often_than_the_parameters_say() {
    let (rows, _) = play(&parameters(), |_, _| true);
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
    let (rows, lasted_ns) = play(&parameters(), |ttl, now_ns| ttl != 2 || limit.lets_pass(now_ns));
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
    let parameters = ProbeParameters { timeout_ns: 50 * MILLISECOND, ..parameters() };
    let (rows, _) = play(&parameters, |ttl, now_ns| ttl != 2 || limit.lets_pass(now_ns));
    assert!(rows.iter().all(|row| row.seen.is_some()), "{rows:?}");
}

#[test]
fn a_hop_that_falls_silent_is_lost_in_the_end() {
    let (rows, _) = play(&parameters(), |ttl, now_ns| ttl != 2 || now_ns < 200 * MILLISECOND);
    let hop: Vec<_> = rows.iter().filter(|row| row.ttl == 2).collect();
    assert_eq!(hop.len(), 30);
    assert!(hop.iter().any(|row| row.seen.is_some()) && hop[29].seen.is_none());
    assert_eq!(hop[29].spacing_ns, HOP_SPACING_MOST_NS);
}

#[test]
fn packets_lost_by_chance_slow_nothing_down() {
    let mut random = fastrand::Rng::with_seed(1);
    let (rows, _) = play(&parameters(), |_, _| random.f64() > 0.03);
    assert!(rows.iter().all(|row| row.seen.is_some() && row.spacing_ns == 5 * MILLISECOND));
}

#[test]
fn a_silent_hop_is_given_up_and_is_never_a_number() {
    let (rows, lasted_ns) = play(&parameters(), |ttl, _| ttl != 1);
    let silent: Vec<_> = rows.iter().filter(|row| row.ttl == 1).collect();
    assert!(silent.iter().all(|row| row.seen.is_none() && row.tries == HOP_TRIES));
    assert_eq!(silent.len(), HOP_SILENT_TRIES / HOP_TRIES as usize);
    assert!(lasted_ns < 10_000 * MILLISECOND);
    assert_eq!(rows.iter().filter(|row| row.ttl == 2).count(), 30);
}

#[test]
fn a_duplicate_or_late_response_does_not_count() {
    let mut prober = Prober::new(&parameters());
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
    let mut prober = Prober::new(&parameters());
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
    let mut prober = Prober::new(&parameters());
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
