//! Played in virtual time: a host whose wall clock is set, or slewed, while datagrams come once a millisecond.

use std::time::Instant;

use super::*;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;
const UNIX_NS: i64 = 1_700_000_000 * SECOND;
const SPREAD_NS: i64 = 80;

/// The wall clock of a host: less the monotonic one, at any of its moments.
type Offset<'a> = &'a dyn Fn(i64) -> i64;

fn look(at_ns: i64, offset: Offset<'_>) -> Look {
    // The clocks are not read at the same moment.
    let noise_ns = at_ns % SPREAD_NS - SPREAD_NS / 2;
    Look { at_ns, unix_ns: at_ns + noise_ns / 2 + offset(at_ns), spread_ns: SPREAD_NS, asleep_ns: 70 }
}

fn times(offset: Offset<'_>) -> KernelTime {
    let origin = Origin { instant: Instant::now(), unix_ns: offset(0) };
    KernelTime::since(origin, look(0, offset))
}

/// What becomes of datagrams that arrive every millisecond for five seconds and are received every `pass_ns`, at most
/// `batch` of them: when each arrived, and when by the computation.
fn played(pass_ns: i64, batch: usize, offset: Offset<'_>) -> (Vec<(i64, Option<i64>)>, Steps) {
    let mut kernel = times(offset);
    let arrivals: Vec<i64> = (1..5000).map(|number| number * MS + 7).collect();
    let (mut next, mut arrived) = (0, Vec::new());
    let mut now_ns = 0;
    while next < arrivals.len() {
        now_ns += pass_ns;
        let ready: Vec<i64> =
            arrivals[next..].iter().copied().take_while(|arrived_ns| *arrived_ns <= now_ns).take(batch).collect();
        kernel.follow(look(now_ns, offset));
        arrived
            .extend(ready.iter().map(|&arrived_ns| (arrived_ns, kernel.arrived_ns(arrived_ns + offset(arrived_ns)))));
        next += ready.len();
        if ready.len() < batch {
            kernel.drained();
        }
    }
    (arrived, kernel.steps)
}

fn assert_true(arrived: &[(i64, Option<i64>)], within_ns: i64) {
    for (arrived_ns, computed_ns) in arrived {
        let error_ns = computed_ns.map_or(0, |computed_ns| computed_ns - arrived_ns);
        assert!(error_ns.abs() <= within_ns, "{error_ns} ns wrong at {arrived_ns}");
    }
}

fn untimed(arrived: &[(i64, Option<i64>)]) -> Vec<i64> {
    arrived.iter().filter(|(_, computed_ns)| computed_ns.is_none()).map(|(arrived_ns, _)| *arrived_ns).collect()
}

#[test]
fn a_clock_that_is_left_alone_costs_nothing() {
    let (arrived, steps) = played(3 * MS, 64, &|_| UNIX_NS);
    assert_true(&arrived, SPREAD_NS);
    assert_eq!((untimed(&arrived).len(), steps), (0, Steps::default()));
}

#[test]
fn no_time_is_wrong_by_a_step_and_only_those_about_it_are_unknown() {
    for step_ns in [-SECOND, SECOND / 2, -MS, MS, -50_000, 50_000] {
        let (arrived, steps) = played(3 * MS, 64, &|at_ns| UNIX_NS + if at_ns < 2 * SECOND { 0 } else { step_ns });
        assert_true(&arrived, 2 * SPREAD_NS);
        let untimed = untimed(&arrived);
        assert!(!untimed.is_empty() && untimed.len() <= 6, "{untimed:?}");
        assert!(untimed.iter().all(|at_ns| (at_ns - 2 * SECOND).abs() <= 6 * MS), "{untimed:?}");
        assert_eq!((steps.count, steps.untimed), (1, untimed.len() as u64));
        assert!((steps.largest_ns - step_ns).abs() <= 2 * SPREAD_NS, "{steps:?}");
        assert!((steps.first_ns - 2 * SECOND).abs() <= 4 * MS, "{steps:?}");
    }
}

#[test]
fn what_still_waited_when_the_clock_was_set_has_no_time() {
    // Ten datagrams a pass of 10.5 ms: the queue grows to 240 ms and is never empty.
    for step_ns in [-SECOND, SECOND / 2, -100 * MS, -MS, MS] {
        let offset = |at_ns: i64| UNIX_NS + if at_ns < 2 * SECOND { 0 } else { step_ns };
        let (arrived, steps) = played(10 * MS + MS / 2, 10, &offset);
        assert_true(&arrived, 2 * SPREAD_NS);
        let untimed = untimed(&arrived);
        let set_back_ns = (-step_ns).max(0);
        let last = 2 * SECOND + set_back_ns + 22 * MS;
        assert!(untimed.iter().all(|at_ns| (2 * SECOND - 110 * MS..last).contains(at_ns)), "{untimed:?}");
        assert_eq!(steps.count, 1);
    }
}

#[test]
fn a_sink_that_is_never_drained_has_times_again_soon_after_the_clock_was_set_far_back() {
    for step_ns in [-3 * SECOND, -3600 * SECOND] {
        let offset = |at_ns: i64| UNIX_NS + if at_ns < 2 * SECOND { 0 } else { step_ns };
        let (arrived, steps) = played(10 * MS + MS / 2, 10, &offset);
        assert_true(&arrived, 2 * SPREAD_NS);
        let untimed = untimed(&arrived);
        let about = 2 * SECOND - 110 * MS..2 * SECOND + nanoseconds(CLOCK_SET_BACK_MOST) + 22 * MS;
        assert!(untimed.iter().all(|at_ns| about.contains(at_ns)), "{:?} to {:?}", untimed.first(), untimed.last());
        assert_eq!(steps.count, 1);
    }
}

#[test]
fn a_clock_that_is_set_again_and_again_tells_no_wrong_time() {
    let offset = |at_ns: i64| {
        UNIX_NS + [0, -SECOND, 3 * SECOND, 3 * SECOND - 20 * MS][usize::try_from(at_ns / SECOND).unwrap().min(3)]
    };
    for (pass_ns, batch) in [(3 * MS, 64), (10 * MS + MS / 2, 10)] {
        let (arrived, steps) = played(pass_ns, batch, &offset);
        assert_true(&arrived, 2 * SPREAD_NS);
        assert_eq!(steps.count, 3);
        assert!((steps.largest_ns - 4 * SECOND).abs() <= 2 * SPREAD_NS);
    }
}

#[test]
fn a_clock_that_is_slewed_is_followed() {
    for parts_per_million in [500, -500] {
        let slewed = |at_ns: i64| UNIX_NS + at_ns * parts_per_million / 1_000_000;
        let (arrived, steps) = played(3 * MS, 64, &slewed);
        // A datagram that waited for 3 ms is wrong by what the clock was slewed meanwhile.
        assert_true(&arrived, 2 * SPREAD_NS + 3 * MS * 500 / 1_000_000);
        assert_eq!(steps, Steps::default());
    }
}

#[test]
fn an_interrupted_look_is_no_step() {
    let offset: Offset<'_> = &|_| UNIX_NS;
    let mut kernel = times(offset);
    kernel.follow(Look { at_ns: SECOND, unix_ns: UNIX_NS + SECOND + 4 * MS, spread_ns: 10 * MS, asleep_ns: 0 });
    assert_eq!(kernel.arrived_ns(UNIX_NS + SECOND - MS), Some(SECOND - MS + SPREAD_NS / 4));
    assert_eq!(kernel.steps.count, 0);
    kernel.follow(look(2 * SECOND, offset));
    assert_eq!(kernel.steps.count, 0);
}

#[test]
fn moments_of_this_process_lie_where_the_times_say() {
    let mut kernel = times(&|_| UNIX_NS);
    let origin = kernel.origin.instant;
    kernel.follow(look(SECOND, &|_| UNIX_NS));
    let arrived = kernel.arrived(UNIX_NS + SECOND / 2).unwrap();
    assert!((arrived - origin).as_nanos().abs_diff(500_000_000) <= 100);
    assert!(kernel.arrived(UNIX_NS - SECOND).unwrap() < origin);
    assert_eq!(kernel.arrived(i64::MAX), None);
    assert_eq!(kernel.arrived_ns(i64::MIN), Some(i64::MIN));
}

#[test]
fn a_host_that_slept_is_no_clock_that_was_set() {
    let mut kernel = times(&|_| UNIX_NS);
    kernel.follow(look(SECOND, &|_| UNIX_NS));
    let slept_ns = 30 * SECOND;
    let woken = Look { asleep_ns: slept_ns + 40, ..look(2 * SECOND, &|_| UNIX_NS + slept_ns) };
    kernel.follow(woken);
    assert_eq!(kernel.arrived_ns(UNIX_NS + SECOND + MS), None, "it may have waited since before");
    kernel.follow(Look { at_ns: 3 * SECOND, unix_ns: UNIX_NS + slept_ns + 3 * SECOND, ..woken });
    let since_ns = kernel.arrived_ns(UNIX_NS + slept_ns + 2 * SECOND + MS).unwrap() - 2 * SECOND - MS;
    assert!(since_ns.abs() <= SPREAD_NS, "{since_ns}");
    assert_eq!((kernel.steps.count, kernel.steps.asleep_ns), (0, slept_ns - 30));
    assert_eq!(
        kernel.steps.remark("have no time").unwrap(),
        "this host was suspended while the trial ran (for 29.999999 s): 1 arrivals of about then have no time"
    );
}

#[test]
fn a_remark_says_how_often_and_by_how_much() {
    assert_eq!(Steps::default().remark("…"), None);
    let one = Steps { count: 1, largest_ns: -SECOND, first_ns: 2_310_000_000, untimed: 3, asleep_ns: 0 };
    let other = Steps { count: 2, largest_ns: 5 * MS, first_ns: 2_300_000_000, untimed: 4, asleep_ns: 0 };
    let all = Steps::seen_by_all([Steps::default(), one, other]);
    assert_eq!(all, Steps { count: 2, largest_ns: -SECOND, first_ns: 2_300_000_000, untimed: 7, asleep_ns: 0 });
    assert_eq!(
        all.remark("have none").unwrap(),
        "this host's clock was set while the trial ran (times: 2; at most by -1.000000 s; first 2.300000 s after its \
         beginning): 7 arrivals of about then have none"
    );
}
