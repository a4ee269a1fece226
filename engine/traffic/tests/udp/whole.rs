//! Trials that run.

use wire::{FlowEnd, Role, UdpSettings};

use crate::support::{Reported, meet, run, settings};

#[test]
fn every_datagram_is_counted_once_on_both_ends() {
    for (address, listener, gso, gro) in [
        ("127.0.0.1", Role::Sink, true, true),
        ("127.0.0.1", Role::Source, false, true),
        ("::1", Role::Sink, true, false),
        ("::1", Role::Source, false, false),
    ] {
        let (source, sink) = run(address, listener, &UdpSettings { gso, gro, ..settings(3) });
        is_whole(&source, &sink);
    }
}

#[test]
fn a_flood_is_sent_in_large_batches_and_loses_no_count() {
    for gso in [true, false] {
        let udp = UdpSettings { rate_bps: None, length_bytes: 1400, gso, ..settings(2) };
        let (source, sink) = run("127.0.0.1", Role::Sink, &udp);
        for flow in 0..2 {
            let (sent, received) = (source.counts(flow), sink.counts(flow));
            assert!(sent.burst_max.unwrap() > 10, "{sent:?}");
            let lost = sent.datagrams - received.datagrams;
            let in_bursts: i64 = sink.histogram("loss_burst").iter().map(|(_, _, count)| count).sum();
            assert_eq!(lost == 0, received.loss_bursts == 0, "{lost} lost of {}", sent.datagrams);
            assert!(in_bursts.unsigned_abs() >= received.loss_bursts);
        }
    }
}

#[test]
fn a_rate_is_kept_and_spread_evenly() {
    let (source, _) = run("127.0.0.1", Role::Sink, &settings(2));
    for flow in &source.report.flows {
        // 1 MB/s by the trial's own clock, but for what a stall beyond 64 datagrams takes away.
        let due = u64::try_from(flow.end_ns).unwrap() / 1_000_000;
        let sent = flow.udp.unwrap().datagrams;
        assert!(sent <= due + 65 && sent >= due / 2, "{sent} of {due}");
    }
}

#[test]
fn what_one_thread_costs_is_told_once() {
    let (source, sink) = run("127.0.0.1", Role::Sink, &UdpSettings { duration_us: 500_000, ..settings(3) });
    let [of_source, of_sink] = [&source, &sink].map(Reported::threads);
    assert_eq!(of_source.into_iter().collect::<Vec<_>>(), [-1, 0], "one thread keeps the pace of all flows");
    assert_eq!(of_sink.into_iter().collect::<Vec<_>>(), [-1, 0, 1, 2]);
    assert!(source.report.flows[1..].iter().all(|flow| flow.cpu == wire::CpuTime::default()));
}

/// 16 000 datagrams a second: the pacer spins until nearly each of them is due.
#[test]
fn what_a_pacer_spins_away_is_no_cost_of_sending() {
    let settings = UdpSettings { duration_us: 1_000_000, rate_bps: Some(128_000_000), ..settings(1) };
    let (source, _) = run("127.0.0.1", Role::Sink, &settings);
    let flow = &source.report.flows[0];
    let each_us = flow.cpu.user_us / flow.udp.unwrap().datagrams.max(1);
    assert!(each_us < 15, "{each_us} us of user time for each, {:?}", flow.cpu);
}

#[test]
fn what_was_asked_for_is_granted_or_said() {
    let (source, sink) = meet("127.0.0.1", Role::Sink, &UdpSettings { length_bytes: 60_000, ..settings(1) });
    let granted = source.connected().granted;
    assert_eq!((granted.gso, granted.gro), (Some(false), None));
    assert!(granted.remarks[0].contains("no two datagrams of 60000 B"), "{:?}", granted.remarks);
    let granted = sink.connected().granted;
    assert_eq!((granted.gso, granted.gro), (None, Some(true)));
    assert!(granted.window_bytes.is_some_and(|bytes| bytes > 0));
    assert!(!granted.window_clipped);
    source.control.stop();
    sink.control.stop();
}

#[test]
fn times_are_taken_by_the_kernel() {
    let (source, sink) = run("127.0.0.1", Role::Sink, &settings(1));
    let counts = sink.counts(0);
    assert!(counts.jitter_ns.is_some());
    // One host, one clock: a delay is short, and not below zero.
    assert!(counts.delay_min_ns.is_some_and(|delay_ns| (0..50_000_000).contains(&delay_ns)), "{counts:?}");
    let delays = sink.values("datagrams", "delay_min_ns");
    assert_eq!(delays.into_iter().flatten().min(), counts.delay_min_ns);
    assert!(source.values("datagrams", "delay_min_ns").iter().all(Option::is_none));
    let least = sink.histogram("delay").iter().map(|(low, ..)| *low).min().unwrap();
    assert!(least < 1000, "the smallest delay lies at zero, not at {least}");
    let spacings: i64 = source.histogram("spacing").iter().map(|(.., count)| count).sum();
    assert_eq!(spacings.unsigned_abs(), source.counts(0).datagrams - 1);
    assert!(sink.histogram("spacing").iter().all(|(low, high, _)| low < high));
}

#[test]
fn a_stopped_trial_reports_what_it_has() {
    let (source, sink) = meet("127.0.0.1", Role::Sink, &UdpSettings { duration_us: 60_000_000, ..settings(2) });
    source.connected();
    sink.connected();
    source.control.start(std::time::Instant::now());
    while !matches!(sink.next(), wire::Event::Progress(progress) if progress.bytes > 0) {}
    source.control.stop();
    let source = Reported::by(source);
    assert_eq!(source.report.incomplete.map(|failed| failed.kind).as_deref(), Some("stopped"));
    assert!(source.report.flows.iter().all(|flow| flow.end == FlowEnd::Stopped && flow.bytes > 0));
    let sink = Reported::by(sink);
    assert_eq!(sink.report.incomplete.map(|failed| failed.kind).as_deref(), Some("ended_early"));
}

fn is_whole(source: &Reported, sink: &Reported) {
    assert_eq!((&source.report.incomplete, &sink.report.incomplete), (&None, &None));
    for (sent, received) in source.report.flows.iter().zip(&sink.report.flows) {
        assert_eq!((sent.end, received.end), (FlowEnd::Drained, FlowEnd::Drained));
        assert_eq!((sent.local_port, sent.remote_port), (received.remote_port, received.local_port));
        assert!(sent.local_port > 0 && sent.remote_port > 0);
        let (sent_counts, received_counts) = (sent.udp.unwrap(), received.udp.unwrap());
        assert!(sent_counts.datagrams > 10);
        assert_eq!(sent_counts.datagrams, received_counts.datagrams, "{received_counts:?}");
        assert_eq!((received_counts.duplicates, received_counts.loss_bursts, received_counts.late), (0, 0, 0));
        assert_eq!(received_counts.socket_dropped, Some(0));
        assert_eq!((sent.bytes, received.bytes), (sent_counts.datagrams * 1000, sent_counts.datagrams * 1000));
        // Every flow ran for the whole duration at the sink.
        assert!(received.end_ns - received.first_byte_ns.unwrap() >= 200_000_000);
    }
    let sent: u64 = source.report.flows.iter().map(|flow| flow.bytes).sum();
    for reported in [source, sink] {
        assert_eq!(reported.sum("samples", "bytes").unsigned_abs(), sent);
        assert_eq!(reported.sum("datagrams", "datagrams").unsigned_abs(), sent / 1000);
        assert_eq!(reported.sum("datagrams", "missing"), 0);
        assert_eq!(reported.report.rows_lost, 0);
        for table in ["samples", "datagrams", "histograms", "cpu"] {
            assert!(reported.report.table_rows[table] > 0, "{table}");
        }
    }
}
