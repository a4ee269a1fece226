//! Trials in virtual time: what a path lets through and what a window does are functions of the time.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of simulated trials are small and positive"
)]

use fastrand::Rng;
use proptest::prelude::*;

use super::*;

const SEGMENT_BYTES: f64 = 1448.0;
const STEP_US: u32 = 100_000;
/// Of CUBIC (RFC 9438), in segments per second cubed.
const CUBIC: f64 = 0.4;

fn within(share: f64, at_least_s: f64, omit_s: f64) -> Until {
    let whole = |value: f64| (value * MILLION).round() as u64;
    Until {
        half_width_ppm: u32::try_from(whole(share)).unwrap(),
        at_least_us: whole(at_least_s),
        omit_us: whole(omit_s),
        interval_us: 1_000_000,
    }
}

/// A flow that has lost something, at a round trip of 20 ms.
fn settled() -> FlowLook {
    FlowLook { cwnd: 100, ssthresh: 70, rtt_us: 20_000, retransmits: 1, ..FlowLook::default() }
}

/// Has one flow send at a rate, in bytes/s by the time in s, sampled as by default; what is decided.
fn trial(until: &Until, at_most_s: u32, mut rate: impl FnMut(f64) -> f64, flow: impl Fn(f64) -> FlowLook) -> Decided {
    let sample_interval = Duration::from_micros(STEP_US.into());
    let mut rule = Rule::new(until, Duration::from_secs(at_most_s.into()), sample_interval, 1);
    let mut arrived = 0.0;
    for step in 1..=at_most_s * 10 {
        let at_s = f64::from(step) / 10.0;
        arrived += rate(at_s) / 10.0;
        let look = FlowLook { arrived_bytes: arrived as u64, ..flow(at_s) };
        if let Some(decided) = rule.look(i64::from(step) * i64::from(STEP_US) * 1000, &[look]) {
            return decided;
        }
    }
    rule.over()
}

fn seconds(us: u64) -> f64 {
    us as f64 / MILLION
}

/// A window that slow start leaves at `left_at` of `full` segments after `left_s`, and that CUBIC then opens without a loss.
fn opening(left_s: f64, left_at: f64, rtt_us: u32) -> impl Fn(f64) -> FlowLook {
    move |at_s| {
        let cwnd = if at_s < left_s {
            (left_at * 2_f64.powf((at_s - left_s) / (f64::from(rtt_us) / MILLION))).max(10.0)
        } else {
            left_at + CUBIC * (at_s - left_s).powi(3)
        };
        let ssthresh = if at_s < left_s { u32::MAX } else { left_at as u32 };
        FlowLook { cwnd: cwnd as u32, ssthresh, rtt_us, ..FlowLook::default() }
    }
}

/// What a path of so many segments lets such a window carry, in bytes/s.
fn carried(look: &FlowLook, full: f64) -> f64 {
    f64::from(look.cwnd).min(full) * SEGMENT_BYTES / (f64::from(look.rtt_us) / MILLION)
}

#[test]
fn a_steady_rate_is_known_after_the_intervals_that_a_goodput_needs_and_one_more_look() {
    let decided = trial(&within(0.02, 1.0, 0.0), 30, |_| 6e6, |_| settled());
    assert_eq!(decided.held_by, None);
    assert_eq!((decided.counted_from_us, decided.ended_us), (140_000, 4_140_000));
    assert!(decided.half_width_ppm.unwrap() < 100, "{decided:?}");
}

#[test]
fn it_lasts_as_long_as_it_must_and_leaves_out_what_it_must() {
    let decided = trial(&within(0.02, 12.0, 5.0), 30, |_| 6e6, |_| settled());
    assert_eq!((decided.held_by, decided.counted_from_us, decided.ended_us), (None, 5_000_000, 13_000_000));
}

#[test]
fn a_window_that_slow_start_left_too_early_is_waited_for() {
    // 250 ms of 50 Mbit/s: it takes 13 s more to grow from 200 segments to 1080, the first of them without anything to see.
    let (left_s, full) = (1.1, 1080.0);
    let flow = opening(left_s, 200.0, 250_000);
    let grown_s = left_s + ((full - 200.0) / CUBIC).cbrt();
    let decided = trial(&within(0.02, 3.0, 0.0), 60, |at_s| carried(&flow(at_s), full), &flow);
    assert!(seconds(decided.ended_us) > 2.0 * grown_s, "{decided:?}");
    for at_most_s in [6, 8, 10, 14] {
        let decided = trial(&within(0.02, 3.0, 0.0), at_most_s, |at_s| carried(&flow(at_s), full), &flow);
        assert!(decided.held_by.is_some(), "{at_most_s} s: {decided:?}");
    }
}

#[test]
fn a_window_that_fills_a_queue_is_known_once_it_has_grown_and_goodput_has_not() {
    let (left_s, full) = (1.7, 1080.0);
    let flow = opening(left_s, full, 250_000);
    let decided = trial(&within(0.02, 3.0, 0.0), 30, |at_s| carried(&flow(at_s), full), &flow);
    let grown_s = left_s + (0.125 * full / CUBIC).cbrt();
    assert_eq!(decided.held_by, None);
    assert!(decided.counted_from_us > 2_000_000, "{decided:?}");
    assert!((grown_s..grown_s + 4.0).contains(&seconds(decided.ended_us)), "{decided:?}");
}

#[test]
fn nothing_is_known_before_slow_start_is_over() {
    let flow = |_| FlowLook { cwnd: 100, ssthresh: u32::MAX, rtt_us: 20_000, ..FlowLook::default() };
    let growing = |at_s: f64| FlowLook { cwnd: (at_s * 10.0) as u32, ..flow(at_s) };
    let decided = trial(&within(0.02, 3.0, 0.0), 20, |_| 6e6, growing);
    assert_eq!((decided.held_by, decided.counted_from_us), (Some(HeldBy::SlowStart), 0));
    // What a buffer holds never passes a threshold: it rests.
    let decided = trial(&within(0.02, 3.0, 0.0), 20, |_| 6e6, flow);
    assert_eq!(decided.held_by, None);
    assert!((1.0..1.3).contains(&seconds(decided.counted_from_us)), "{decided:?}");
}

#[test]
fn recovery_from_what_ended_slow_start_does_not_count() {
    let recovering =
        |at_s: f64| FlowLook { ca_state: if at_s < 2.0 { 3 } else { 0 }, cwnd: (at_s * 100.0) as u32, ..settled() };
    let decided = trial(&within(0.02, 3.0, 0.0), 20, |_| 6e6, recovering);
    assert!(decided.counted_from_us >= 2_000_000, "{decided:?}");
}

/// The window of Reno that slow start's losses left at 39 segments, until the receive window holds it at 92.
fn recovers(at_s: f64) -> FlowLook {
    let cwnd = if at_s < 0.15 { 148.0 } else { (39.0 + (at_s - 0.2).max(0.0) * 50.0).min(92.0) };
    FlowLook { cwnd: cwnd as u32, ssthresh: 39, rtt_us: 20_000, retransmits: 23, ..FlowLook::default() }
}

#[test]
fn a_window_that_makes_up_for_slow_start_counts_from_when_it_rests() {
    let decided = trial(&within(0.02, 1.0, 0.0), 20, |at_s| carried(&recovers(at_s), 92.0), recovers);
    assert_eq!(decided.held_by, None);
    assert!((1.2..1.4).contains(&seconds(decided.counted_from_us)), "{decided:?}");
    assert!(decided.half_width_ppm.unwrap() < 1000 && seconds(decided.ended_us) < 6.0, "{decided:?}");
    // Not where no interval would be left to count.
    let decided = trial(&within(0.02, 1.0, 0.0), 4, |at_s| carried(&recovers(at_s), 92.0), recovers);
    assert!(seconds(decided.counted_from_us) < 0.5, "{decided:?}");
}

#[test]
fn what_a_window_lost_later_counts_when_it_rests_again() {
    let loses = |at_s: f64| if at_s < 4.0 { recovers(at_s) } else { recovers(at_s - 4.0) };
    let shallow = |at_s: f64| FlowLook { cwnd: recovers(at_s).cwnd.min(90), ..recovers(at_s) };
    let decided = trial(
        &within(0.02, 12.0, 0.0),
        20,
        |at_s| carried(&loses(at_s), 92.0),
        |at_s| {
            // It rests for the first time after a loss.
            if at_s < 4.0 { FlowLook { cwnd: 40 + (at_s * 12.0) as u32, ..shallow(at_s) } } else { loses(at_s) }
        },
    );
    assert!(seconds(decided.counted_from_us) < 0.5, "{decided:?}");
}

#[test]
fn a_rest_for_which_no_time_is_left_does_not_count() {
    let slowly = |at_s: f64| FlowLook { rtt_us: 200_000, ..recovers(0.2 + at_s / 10.0) };
    let decided = trial(&within(0.02, 1.0, 0.0), 14, |at_s| carried(&slowly(at_s), 92.0), slowly);
    assert!(seconds(decided.counted_from_us) < 2.0, "{decided:?}");
    assert!(decided.half_width_ppm.unwrap() > 20_000, "it is of all that counts: {decided:?}");
}

#[test]
fn a_window_that_rests_where_goodput_did_before_moves_nothing() {
    let deep = |at_s: f64| FlowLook { cwnd: (100.0 + at_s * 10.0).min(200.0) as u32, ssthresh: 100, ..settled() };
    let decided = trial(&within(0.02, 14.0, 0.0), 20, |_| 6e6, deep);
    assert_eq!(decided.held_by, None);
    assert!(seconds(decided.counted_from_us) < 0.5, "{decided:?}");
}

#[test]
fn a_loss_long_after_slow_start_belongs_to_the_mean_whatever_is_omitted() {
    let loses = |at_s: f64| {
        let cwnd = if at_s < 4.5 { 40.0 + at_s * 8.0 } else { (38.0 + (at_s - 4.5) * 10.0).min(92.0) };
        FlowLook { cwnd: cwnd as u32, ssthresh: 38, rtt_us: 100_000, retransmits: 5, ..FlowLook::default() }
    };
    let decided = trial(&within(0.02, 6.0, 5.0), 20, |at_s| carried(&loses(at_s), 92.0), loses);
    assert_eq!(decided.counted_from_us, 5_000_000);
}

#[test]
fn a_window_that_grows_on_after_a_rest_has_not_settled() {
    let grows = |at_s: f64| {
        let cwnd = match at_s {
            ..4.0 => 200.0 + at_s * 15.0,
            ..6.0 => 260.0,
            _ => (260.0 + CUBIC * (at_s - 6.0).powi(3)).min(1080.0),
        };
        FlowLook { cwnd: cwnd as u32, ssthresh: 200, rtt_us: 100_000, ..FlowLook::default() }
    };
    let decided = trial(&within(0.02, 3.0, 0.0), 10, |at_s| carried(&grows(at_s), 1080.0), grows);
    assert!(decided.held_by.is_some(), "{decided:?}");
}

#[test]
fn every_flow_must_have_left_slow_start() {
    let mut rule = Rule::new(&within(0.02, 1.0, 0.0), Duration::from_secs(9), Duration::from_millis(100), 2);
    for step in 1..90 {
        let flow = FlowLook { arrived_bytes: step * 1_000_000, ..settled() };
        let other = FlowLook { cwnd: u32::try_from(step).unwrap(), ssthresh: u32::MAX, ..flow };
        assert_eq!(rule.look(i64::try_from(step).unwrap() * 100_000_000, &[flow, other]), None);
    }
    assert_eq!(rule.over().held_by, Some(HeldBy::SlowStart));
}

#[test]
fn a_step_a_trend_and_silence_are_not_known() {
    let told = |rate: fn(f64) -> f64| trial(&within(0.02, 3.0, 0.0), 30, rate, |_| settled()).held_by;
    assert!(told(|at_s| if at_s < 3.0 { 6e6 } else { 3e6 }).is_some());
    assert!(told(|at_s| if at_s < 3.5 { 6e6 } else { 6.6e6 }).is_some());
    assert!(told(|at_s| 6e6 * (1.0 + 0.01 * at_s)).is_some());
    assert!(told(|at_s| 6e6 * (1.0 - 0.01 * at_s)).is_some());
    assert_eq!(told(|_| 0.0), Some(HeldBy::TooShort));
}

#[test]
fn a_rate_that_comes_and_goes_is_known_after_some_periods_if_at_all() {
    for (period_s, phase_s) in [(2.0, 0.0), (2.0, 0.7), (3.0, 0.4), (5.0, 1.0)] {
        let rate = |at_s: f64| if (at_s + phase_s) % period_s < period_s / 2.0 { 6e6 } else { 3e6 };
        let decided = trial(&within(0.02, 3.0, 0.0), 60, rate, |_| settled());
        let lasted_s = seconds(decided.ended_us - decided.counted_from_us);
        assert!(lasted_s >= 3.0 * period_s, "{period_s} s: {decided:?}");
    }
}

/// A rate with correlated noise: of deviation `deviation`, which halves the way to independence in `time_s`.
fn noisy(seed: u64, deviation: f64, time_s: f64) -> impl FnMut(f64) -> f64 {
    let mut random = Rng::with_seed(seed);
    let kept: f64 = if time_s > 0.0 { (-0.1 / time_s).exp() } else { 0.0 };
    // Twelve uniform numbers are as good as normal here.
    let mut normal = move || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let mut noise = normal();
    move |_| {
        noise = kept * noise + (1.0 - kept * kept).sqrt() * normal();
        (6e6 * (1.0 + deviation * noise)).max(0.0)
    }
}

/// Of many trials with such noise: how many were known, of those the share that is wrong by more than asked, and how long all
/// lasted on average, in s.
fn judged(deviation: f64, time_s: f64) -> (u32, f64, f64) {
    let (mut known, mut wrong, mut lasted_s) = (0_u32, 0_u32, 0.0);
    for seed in 0..300 {
        let decided = trial(&within(0.02, 3.0, 0.0), 30, noisy(seed, deviation, time_s), |_| settled());
        lasted_s += seconds(decided.ended_us) / 300.0;
        if decided.held_by.is_some() {
            continue;
        }
        let mut rate = noisy(seed, deviation, time_s);
        let rates: Vec<f64> = (1..=300).map(|step| rate(f64::from(step) / 10.0)).collect();
        let counted = &rates[(decided.counted_from_us / 100_000) as usize..(decided.ended_us / 100_000) as usize];
        let mean = counted.iter().sum::<f64>() / counted.len() as f64 / 6e6;
        known += 1;
        wrong += u32::from((mean - 1.0).abs() > 0.02);
    }
    (known, f64::from(wrong) / f64::from(known.max(1)), lasted_s)
}

#[test]
fn what_is_known_is_true_as_often_as_it_says() {
    // Deviation of 100 ms and time of correlation; how many of 300 are known at least, the share that may be wrong.
    for (deviation, time_s, least, most) in [
        (0.02, 0.0, 300, 0.0),
        (0.05, 0.0, 290, 0.05),
        (0.02, 0.3, 290, 0.05),
        (0.05, 0.3, 100, 0.08),
        (0.01, 1.0, 290, 0.05),
    ] {
        let (known, wrong, _) = judged(deviation, time_s);
        assert!(known >= least && wrong <= most, "{deviation} over {time_s} s: {known} known, {wrong} of them wrong");
    }
    let (_, _, lasted_s) = judged(0.02, 0.3);
    assert!(lasted_s < 10.0, "{lasted_s} s in place of 30");
    let (known, ..) = judged(0.15, 1.0);
    assert!(known <= 15, "{known} of 300 are known that cannot be");
}

proptest! {
    #[test]
    fn whatever_comes_it_keeps_to_what_was_asked(
        rates in proptest::collection::vec(0_u32..2_000_000, 200),
        windows in proptest::collection::vec(1_u32..200, 200),
        share in 0.001_f64..0.5,
        at_least_s in 0_u32..20,
        omit_s in 0_u32..17,
        rtt_us in 0_u32..500_000,
    ) {
        let until = within(share, at_least_s.into(), omit_s.into());
        let place = |at_s: f64| ((at_s * 10.0).round() as usize).saturating_sub(1);
        let decided = trial(&until, 20, |at_s| rates[place(at_s)].into(), |at_s| FlowLook {
            cwnd: windows[place(at_s)],
            ssthresh: windows[windows.len() - 1 - place(at_s)],
            rtt_us,
            ..FlowLook::default()
        });
        let counted_us = decided.ended_us - decided.counted_from_us;
        prop_assert!(decided.counted_from_us >= until.omit_us && decided.ended_us <= 20_000_000);
        prop_assert!(counted_us >= 3_000_000);
        if decided.held_by.is_some() {
            prop_assert_eq!(decided.ended_us, 20_000_000);
        } else {
            prop_assert!(decided.ended_us >= until.at_least_us && counted_us % until.interval_us == 0);
            prop_assert!(decided.half_width_ppm.unwrap() <= u64::from(until.half_width_ppm) + 1);
        }
    }
}
