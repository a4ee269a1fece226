//! What both ends report to each other of the test that is over. No socket, no clock.

use std::time::Duration;

use iperf3::{Results, StreamResults, stream_id};
use wire::{FarFlow, FarSide, Role};

/// Retransmissions that nobody counted.
const UNKNOWN: i64 = -1;

/// More than any count of a test is, or time of it in nanoseconds: a controller takes no more.
const NUMBER_MAX: u64 = 1 << 53;

/// What we saw of one flow: bytes and jitter behind what was left out, all else of the whole test.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Application bytes.
    pub bytes: u64,
    /// Segments retransmitted, of a flow that sends.
    pub retransmits: Option<u64>,
    /// Datagrams sent, or the highest number received.
    pub datagrams: u64,
    /// Those that were not received, of a flow that receives.
    pub lost: u64,
    /// Interarrival jitter.
    pub jitter_ns: u64,
    /// Of a flow of datagrams, those of the part that was left out.
    pub omitted: Option<Omitted>,
}

/// Datagrams that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Sent, or the highest number received.
    pub datagrams: u64,
    /// Not received by then.
    pub lost: u64,
}

/// What we report of all flows, in the order in which they were made.
pub fn ours(seen: &[Seen], congestion: Option<String>, counted: Duration) -> Results {
    let streams = (0..).zip(seen).map(|(index, seen)| StreamResults {
        id: stream_id(index),
        bytes: signed(seen.bytes),
        retransmits: seen.retransmits.map_or(UNKNOWN, signed),
        jitter: Duration::from_nanos(seen.jitter_ns).as_secs_f64(),
        // What was missing when the part that is left out was over may have come since: a server takes the difference.
        errors: signed(seen.lost.max(seen.omitted.map_or(0, |omitted| omitted.lost))),
        packets: signed(seen.datagrams),
        omitted_errors: seen.omitted.map(|omitted| signed(omitted.lost)),
        omitted_packets: seen.omitted.map(|omitted| signed(omitted.datagrams)),
        start_time: 0.0,
        end_time: counted.as_secs_f64(),
    });
    let sends = seen.iter().any(|seen| seen.retransmits.is_some());
    Results {
        sender_has_retransmits: if sends { 1 } else { UNKNOWN },
        congestion_used: congestion,
        streams: streams.collect(),
        ..Results::default()
    }
}

/// What the server reported of the flows of one direction, the first of which was made as number `first`. A flow with a
/// number that cannot be is as one of which it reported nothing. Servers before 3.2 report no times.
pub fn theirs(results: &Results, role: Role, first: u32, flows: u32, datagrams: bool) -> FarSide {
    let found = (0..flows).filter_map(|flow| {
        let id = stream_id(first + flow);
        let stream = results.streams.iter().find(|stream| stream.id == id)?;
        Some(far_flow(flow, stream, role, datagrams)).filter(can_be)
    });
    FarSide {
        congestion: results.congestion_used.clone().filter(|_| role == Role::Sink && !datagrams),
        cpu_percent: if results.cpu_util_total.is_finite() { results.cpu_util_total } else { 0.0 },
        flows: found.collect(),
    }
}

/// Takes time off in which a server that receives had run, and nothing was sent to it yet.
pub fn take_off(far_side: &mut FarSide, lead: Duration) {
    let lead_us = u64::try_from(lead.as_micros()).unwrap_or(u64::MAX);
    for flow in &mut far_side.flows {
        flow.elapsed_us = flow.elapsed_us.saturating_sub(lead_us);
    }
}

/// `role` is ours: where we sent, the server received.
///
/// Its datagrams are those of the whole test, as ours are, though it tells how many were omitted, too.
fn far_flow(flow: u32, stream: &StreamResults, role: Role, datagrams: bool) -> FarFlow {
    let received = role == Role::Source;
    FarFlow {
        flow,
        bytes: unsigned(stream.bytes),
        elapsed_us: microseconds(stream.end_time - stream.start_time),
        retransmits: u64::try_from(stream.retransmits).ok().filter(|_| !received && !datagrams),
        datagrams: datagrams.then(|| unsigned(stream.packets)),
        lost: (datagrams && received).then(|| unsigned(stream.errors)),
        jitter_ns: (datagrams && received).then(|| nanoseconds(stream.jitter)),
    }
}

fn can_be(flow: &FarFlow) -> bool {
    let some = [flow.retransmits, flow.datagrams, flow.lost, flow.jitter_ns];
    some.into_iter().flatten().chain([flow.bytes, flow.elapsed_us]).all(|number| number <= NUMBER_MAX)
}

/// Has flows of which the server reported no time last for as long as we counted.
pub fn settle_times(far_side: &mut FarSide, results: &Results, counted: Duration) {
    let silent = |stream: &StreamResults| stream.start_time.to_bits() == 0 && stream.end_time.to_bits() == 0;
    if !results.streams.iter().all(silent) {
        return;
    }
    for flow in &mut far_side.flows {
        flow.elapsed_us = u64::try_from(counted.as_micros()).unwrap_or(u64::MAX);
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

fn microseconds(seconds: f64) -> u64 {
    scaled(seconds, 1e6)
}

fn nanoseconds(seconds: f64) -> u64 {
    scaled(seconds, 1e9)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; what is no number is 0")]
fn scaled(seconds: f64, per_second: f64) -> u64 {
    (seconds * per_second).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(id: i64, bytes: i64) -> StreamResults {
        StreamResults {
            id,
            bytes,
            retransmits: 3,
            jitter: 0.001,
            errors: 7,
            packets: 100,
            end_time: 2.5,
            ..stream_of()
        }
    }

    fn stream_of() -> StreamResults {
        StreamResults { omitted_errors: Some(2), omitted_packets: Some(10), ..StreamResults::default() }
    }

    #[test]
    fn flows_are_found_by_the_number_of_their_stream() {
        let results = Results { streams: vec![stream(4, 40), stream(1, 10), stream(3, 30)], ..Results::default() };
        let bytes = |first, flows| {
            let far = theirs(&results, Role::Source, first, flows, false);
            far.flows.iter().map(|flow| (flow.flow, flow.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(bytes(0, 2), [(0, 10), (1, 30)]);
        assert_eq!(bytes(2, 2), [(0, 40)], "a stream that it does not report is left out");
    }

    #[test]
    fn datagrams_that_were_omitted_count_as_ours_do() {
        let results = Results { streams: vec![stream(1, 10)], ..Results::default() };
        let flow = theirs(&results, Role::Source, 0, 1, true).flows[0];
        assert_eq!((flow.datagrams, flow.lost, flow.jitter_ns), (Some(100), Some(7), Some(1_000_000)));
        assert_eq!((flow.elapsed_us, flow.retransmits), (2_500_000, None));
        let sent = theirs(&results, Role::Sink, 0, 1, false).flows[0];
        assert_eq!((sent.datagrams, sent.lost, sent.retransmits), (None, None, Some(3)));
    }

    #[test]
    fn time_before_the_trial_is_none_in_which_a_server_received() {
        let results = Results { streams: vec![stream(1, 10)], ..Results::default() };
        let mut far = theirs(&results, Role::Source, 0, 1, false);
        take_off(&mut far, Duration::from_millis(500));
        assert_eq!(far.flows[0].elapsed_us, 2_000_000);
        take_off(&mut far, Duration::from_secs(9));
        assert_eq!(far.flows[0].elapsed_us, 0, "nothing is said by one that cannot be");
    }

    #[test]
    fn where_a_server_says_no_time_ours_is_taken() {
        let told = |end_time| {
            let results = Results { streams: vec![StreamResults { end_time, ..stream(1, 10) }], ..Results::default() };
            let mut far = theirs(&results, Role::Source, 0, 1, false);
            settle_times(&mut far, &results, Duration::from_secs(7));
            far.flows[0].elapsed_us
        };
        assert_eq!([0.0, 2.5, -1.0].map(told), [7_000_000, 2_500_000, 0]);
    }

    #[test]
    fn numbers_that_make_no_sense_are_borne() {
        let streams = vec![StreamResults { bytes: -5, jitter: f64::NAN, end_time: -1.0, ..stream(1, 0) }];
        let results = Results { cpu_util_total: f64::INFINITY, streams, ..Results::default() };
        let far = theirs(&results, Role::Source, 0, 1, true);
        assert_eq!((far.cpu_percent.to_bits(), far.flows[0].bytes), (0, 0));
        assert_eq!((far.flows[0].elapsed_us, far.flows[0].jitter_ns), (0, Some(0)));
    }

    #[test]
    fn a_flow_with_a_number_that_cannot_be_is_not_told_of() {
        let most = 1 << 53;
        let told = |stream| {
            let results = Results { streams: vec![stream, self::stream(3, most)], ..Results::default() };
            let flows = theirs(&results, Role::Source, 0, 2, true).flows;
            flows.iter().map(|flow| flow.flow).collect::<Vec<_>>()
        };
        assert_eq!(told(stream(1, 5)), [0, 1]);
        for absurd in [
            stream(1, most + 1),
            StreamResults { packets: i64::MAX, ..stream(1, 5) },
            StreamResults { errors: i64::MAX, ..stream(1, 5) },
            StreamResults { end_time: 1e300, ..stream(1, 5) },
            StreamResults { jitter: f64::INFINITY, ..stream(1, 5) },
        ] {
            assert_eq!(told(absurd), [1]);
        }
    }

    #[test]
    fn our_report_has_iperf3s_numbers_of_streams() {
        let seen = [Seen { bytes: 5, retransmits: Some(1), ..Seen::default() }, Seen::default()];
        let results = ours(&seen, Some("cubic".into()), Duration::from_secs(2));
        let reported: Vec<_> =
            results.streams.iter().map(|stream| (stream.id, stream.bytes, stream.retransmits)).collect();
        assert_eq!(reported, [(1, 5, 1), (3, 0, -1)]);
        assert_eq!((results.sender_has_retransmits, results.streams[0].end_time.to_bits()), (1, 2.0_f64.to_bits()));
    }

    #[test]
    fn datagrams_are_reported_whole_with_how_many_of_them_were_left_out() {
        let reported = |lost, omitted| {
            let seen = [Seen { bytes: 500, datagrams: 20, lost, omitted, ..Seen::default() }];
            let stream = ours(&seen, None, Duration::from_secs(2)).streams.remove(0);
            (stream.packets, stream.omitted_packets, stream.errors, stream.omitted_errors)
        };
        let omitted = Some(Omitted { datagrams: 10, lost: 4 });
        assert_eq!(reported(5, omitted), (20, Some(10), 5, Some(4)));
        assert_eq!(reported(1, omitted), (20, Some(10), 4, Some(4)), "late ones are no gain of the rest");
        assert_eq!(reported(5, None), (20, None, 5, None));
    }
}
