//! Trials that run, and what may cut them short.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use arrow_array::Int64Array;
use wire::{Event, FlowEnd, Mode, Report, Role, TcpSettings, Test, Until};

use crate::{
    ends::{ANSWER, End, TOKEN, column, meet},
    support::{bytes_of_flows, connect, connected_report, listen, settings},
};

#[test]
fn one_flow_over_ipv4() {
    runs_whole("127.0.0.1", Role::Sink, &settings(1));
}

#[test]
fn many_flows_over_ipv6() {
    let tcp = TcpSettings { family: Some(6), ..settings(128) };
    runs_whole("::1", Role::Sink, &tcp);
}

#[test]
fn a_source_that_listens() {
    runs_whole("127.0.0.1", Role::Source, &settings(3));
}

#[test]
fn every_flow_runs_for_the_whole_duration_at_the_sink() {
    let tcp = settings(8);
    let (_, read) = runs_whole("127.0.0.1", Role::Sink, &tcp);
    let all_run = read.flows.iter().filter_map(|flow| flow.first_byte_ns).max().unwrap();
    for flow in &read.flows {
        assert!(flow.end_ns - all_run >= (tcp.duration_us * 1000).cast_signed(), "flow {}", flow.flow);
    }
}

#[test]
fn an_application_rate_is_kept() {
    let tcp = TcpSettings { rate_bps: Some(8_000_000), length_bytes: 1000, ..settings(1) };
    let (sent, _) = runs_whole("127.0.0.1", Role::Sink, &tcp);
    // 1 MB/s by the trial's own clock: never more than asked for, and a stall costs what exceeds the pacer's debt.
    let flow = &sent.flows[0];
    let due = u64::try_from(flow.end_ns).unwrap() / 1000;
    assert!(flow.bytes <= due + 1000, "{} B of {due} B", flow.bytes);
    assert!(flow.bytes >= due / 2, "{} B of {due} B", flow.bytes);
}

#[test]
fn a_source_that_knows_its_mean_ends_early_and_no_byte_is_missing() {
    let until = Until { half_width_ppm: 200_000, at_least_us: 1_500_000, omit_us: 300_000, interval_us: 100_000 };
    let paced = TcpSettings { rate_bps: Some(8_000_000), length_bytes: 1000, ..settings(2) };
    let tcp = TcpSettings { duration_us: 60_000_000, until: Some(until), ..paced };
    let (sent, read) = runs_whole("127.0.0.1", Role::Sink, &tcp);
    let decided = sent.decided.unwrap();
    assert_eq!((decided.held_by, read.decided), (None, None));
    assert!((1_500_000..60_000_000).contains(&decided.ended_us), "{decided:?}");
    assert!(decided.counted_from_us >= 300_000 && decided.half_width_ppm.unwrap() <= 200_000, "{decided:?}");
    for flow in &read.flows {
        assert!(flow.end_ns >= (decided.ended_us * 1000).cast_signed(), "{decided:?} {flow:?}");
    }
}

#[test]
fn a_source_that_may_end_early_and_does_not_know_its_mean_says_so() {
    let until = Until { half_width_ppm: 1, at_least_us: 0, omit_us: 0, interval_us: 50_000 };
    let (sent, _) = runs_whole("127.0.0.1", Role::Source, &TcpSettings { until: Some(until), ..settings(1) });
    let decided = sent.decided.unwrap();
    assert!(decided.held_by.is_some());
    assert_eq!(decided.ended_us, 200_000);
}

#[test]
fn no_mode_loses_or_invents_a_byte() {
    for mode in [Mode::Zerocopy, Mode::Discard] {
        runs_whole("127.0.0.1", Role::Sink, &TcpSettings { mode, length_bytes: 100_000, ..settings(8) });
        let paced = TcpSettings { mode, rate_bps: Some(8_000_000), length_bytes: 1000, ..settings(2) };
        runs_whole("::1", Role::Source, &paced);
    }
}

#[test]
fn settings_reach_the_kernel() {
    let tcp = TcpSettings {
        congestion: Some("reno".into()),
        window_bytes: Some(65_536),
        mss_bytes: Some(1000),
        no_delay: true,
        dscp: Some(8),
        pacing_rate_bps: Some(80_000_000),
        cpus: vec![0],
        ..settings(2)
    };
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp));
    let granted = source.connected().granted;
    assert_eq!(granted.window_bytes, Some(131_072));
    assert_eq!(granted.congestion.as_deref(), Some("reno"));
    assert!(granted.mss_bytes.is_some_and(|bytes| bytes <= 1000));
    assert_eq!(sink.connected().granted.window_bytes, Some(131_072));
    source.control.start(Instant::now());
    let (report, tables) = source.report();
    assert_eq!(report.incomplete, None);
    let paced = tables["samples"].iter().all(|batch| {
        let rates: Int64Array = column(batch, "max_pacing_rate_bytes_per_s");
        rates.iter().all(|rate| rate == Some(10_000_000))
    });
    assert!(paced, "the kernel was not asked to pace");
}

#[test]
fn flows_that_carry_nothing_or_end_early_are_not_whole() {
    for bytes in [0, 1000] {
        let sink = End::begin(listen(Role::Sink, settings(1)));
        let mut flow = TcpStream::connect(("127.0.0.1", sink.listening_port())).unwrap();
        flow.write_all(&wire::Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
        let mut answer = [0; wire::ANSWER_BYTES];
        flow.read_exact(&mut answer).unwrap();
        flow.write_all(&vec![7; bytes]).unwrap();
        drop(flow);
        let report = connected_report(sink);
        assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("ended_early"), "{bytes} B");
    }
}

#[test]
fn a_stopped_trial_reports_what_it_has() {
    let tcp = TcpSettings { duration_us: 60_000_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp));
    source.connected();
    source.control.start(Instant::now());
    assert!(matches!(source.next(), Event::Progress(progress) if progress.bytes > 0));
    source.control.stop();
    let (report, _) = source.report();
    assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("stopped"));
    assert!(report.flows.iter().all(|flow| flow.end == FlowEnd::Stopped));
}

#[test]
fn a_sink_that_does_not_read_ends_in_a_drain_timeout() {
    let tcp = TcpSettings { drain_timeout_us: 100_000, window_bytes: Some(16_384), ..settings(1) };
    let idle = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = idle.local_addr().unwrap().port();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, tcp));
    let (mut sink, _) = idle.accept().unwrap();
    let mut opening = [0; wire::OPENING_BYTES];
    sink.read_exact(&mut opening).unwrap();
    let opening = wire::Opening::decode(&opening).unwrap();
    sink.write_all(&opening.answer(ANSWER)).unwrap();
    source.connected();
    source.control.start(Instant::now());
    sink.write_all(&[wire::RUNNING]).unwrap();
    let (report, _) = source.report();
    assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("drain_timeout"));
    assert_eq!(report.flows[0].end, FlowEnd::DrainTimeout);
}

#[test]
fn a_peer_that_breaks_off_is_noticed() {
    let tcp = TcpSettings { duration_us: 60_000_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp));
    source.connected();
    source.control.start(Instant::now());
    sink.connected();
    assert!(matches!(sink.next(), Event::Progress(_)));
    sink.control.stop();
    let (report, _) = source.report();
    assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("broken"));
}

/// A trial that ends well: every byte that was written was read, and is in a sample, for every flow.
/// Runs both ends; what they report when both agree to the byte.
pub fn runs_whole(address: &str, listener: Role, tcp: &TcpSettings) -> (Report, Report) {
    let (source, sink) = meet(address, listener, &Test::Tcp(tcp.clone()));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let ((sent, sent_tables), (read, read_tables)) = (source.report(), sink.report());
    let (sent_samples, read_samples) = (bytes_of_flows(&sent_tables), bytes_of_flows(&read_tables));
    for (one, other) in sent.flows.iter().zip(&read.flows) {
        assert!(one.bytes > 0);
        assert_eq!(one.bytes, other.bytes, "flow {}", one.flow);
        assert_eq!((one.end, other.end), (FlowEnd::Drained, FlowEnd::Drained));
        assert_eq!((one.local_port, one.remote_port), (other.remote_port, other.local_port));
        assert!(one.local_port > 0 && one.remote_port > 0);
        let flow = one.flow.cast_signed();
        assert_eq!(sent_samples[&flow], one.bytes.cast_signed());
        assert_eq!(read_samples[&flow], other.bytes.cast_signed());
    }
    assert_eq!(sent.flows.len(), tcp.flows as usize);
    assert_eq!((&sent.incomplete, &read.incomplete), (&None, &None));
    (sent, read)
}
