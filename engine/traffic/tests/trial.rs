//! Both ends of real trials over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use arrow_array::{Array, Int32Array, Int64Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use traffic::{Control, Outbox, SampleBatch, tcp};
use wire::{Event, Failed, FlowEnd, Meeting, Mode, Phase, Prepare, Report, Role, TcpSettings, Token};

const PATIENCE: Duration = Duration::from_secs(60);

/// One end of a trial, running on its own thread.
struct End {
    control: Arc<Control>,
    events: Receiver<Event>,
    samples: Arc<Mutex<Vec<RecordBatch>>>,
    thread: JoinHandle<()>,
}

struct Collector {
    events: Mutex<Sender<Event>>,
    samples: Arc<Mutex<Vec<RecordBatch>>>,
}

impl Outbox for Collector {
    fn event(&self, event: Event) {
        let _ = self.events.lock().unwrap().send(event);
    }

    fn samples(&self, stream: SampleBatch) {
        let batches = StreamReader::try_new(&stream.0[..], None).unwrap().map(Result::unwrap);
        self.samples.lock().unwrap().extend(batches);
    }
}

impl End {
    fn begin(prepare: Prepare) -> Self {
        let (sender, events) = channel();
        let samples = Arc::new(Mutex::new(Vec::new()));
        let collector = Collector { events: Mutex::new(sender), samples: samples.clone() };
        let control = Arc::new(Control::default());
        let held = control.clone();
        let thread = thread::spawn(move || tcp::carry_out(&prepare, &held, &collector));
        Self { control, events, samples, thread }
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(PATIENCE).unwrap()
    }

    fn listening_port(&self) -> u16 {
        match self.next() {
            Event::Listening(listening) => listening.port,
            other => panic!("expected listening, got {other:?}"),
        }
    }

    fn connected(&self) -> wire::Connected {
        match self.next() {
            Event::Connected(connected) => connected,
            other => panic!("expected connected, got {other:?}"),
        }
    }

    fn report(self) -> (Report, HashMap<i32, i64>) {
        let report = loop {
            match self.next() {
                Event::Progress(_) => {}
                Event::Report(report) => break *report,
                other => panic!("expected a report, got {other:?}"),
            }
        };
        self.thread.join().unwrap();
        let mut bytes = HashMap::new();
        for batch in self.samples.lock().unwrap().iter() {
            for (flow, passed) in columns(batch) {
                *bytes.entry(flow).or_insert(0) += passed;
            }
        }
        (report, bytes)
    }

    fn failed(&self) -> Failed {
        match self.next() {
            Event::Failed(failed) => failed,
            other => panic!("expected a failure, got {other:?}"),
        }
    }
}

fn columns(batch: &RecordBatch) -> Vec<(i32, i64)> {
    let flows = batch.column_by_name("flow").unwrap().as_any().downcast_ref::<Int32Array>().unwrap();
    let bytes = batch.column_by_name("bytes").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
    (0..batch.num_rows()).map(|row| (flows.value(row), bytes.value(row))).collect()
}

fn settings(flows: u32) -> TcpSettings {
    TcpSettings {
        flows,
        length_bytes: 16 << 10,
        window_bytes: None,
        clip_allowed: false,
        congestion: None,
        duration_us: 200_000,
        pad_us: 50_000,
        sample_interval_us: 20_000,
        connect_timeout_us: 15_000_000,
        drain_timeout_us: 15_000_000,
        silence_timeout_us: 15_000_000,
        rate_bps: None,
        pacing_rate_bps: None,
        mss_bytes: None,
        dscp: None,
        no_delay: false,
        cpus: Vec::new(),
        family: None,
        mode: Mode::Copy,
    }
}

fn prepare(role: Role, meeting: Meeting, tcp: TcpSettings) -> Prepare {
    Prepare { trial: "t".into(), role, token: Token([1; 16]), answer: Token([2; 16]), meeting, tcp }
}

fn listen(role: Role, tcp: TcpSettings) -> Prepare {
    prepare(role, Meeting::Listen { bind: None, ports: None }, tcp)
}

fn connect(role: Role, address: &str, port: u16, tcp: TcpSettings) -> Prepare {
    prepare(role, Meeting::Connect { address: address.into(), port, bind: None }, tcp)
}

/// A trial that ends well: every byte that was written was read, and is in a sample, for every flow.
fn runs_whole(address: &str, listener: Role, tcp: &TcpSettings) -> (Report, Report) {
    let connector = if listener == Role::Sink { Role::Source } else { Role::Sink };
    let listening = End::begin(listen(listener, tcp.clone()));
    let port = listening.listening_port();
    let connecting = End::begin(connect(connector, address, port, tcp.clone()));
    connecting.connected();
    listening.connected();
    let (source, sink) = if listener == Role::Sink { (connecting, listening) } else { (listening, connecting) };
    source.control.start();
    let ((sent, sent_samples), (read, read_samples)) = (source.report(), sink.report());
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
    source.control.start();
    let samples = source.samples.clone();
    assert_eq!(source.report().0.incomplete, None);
    let paced = samples.lock().unwrap().iter().all(|batch| {
        let rates = batch.column_by_name("max_pacing_rate_bytes_per_s").unwrap();
        rates.as_any().downcast_ref::<Int64Array>().unwrap().iter().all(|rate| rate == Some(10_000_000))
    });
    assert!(paced, "the kernel was not told to pace");
}

#[test]
fn a_clipped_window_fails_before_any_traffic() {
    let tcp = TcpSettings { window_bytes: Some(1 << 30), ..settings(1) };
    let failed = End::begin(listen(Role::Sink, tcp)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Prepare, "window_clipped"));
    assert!(failed.message.contains("1073741824") && failed.message.contains("net.core.rmem_max"));
}

#[test]
fn a_clipped_window_may_be_allowed_and_a_tiny_one_is_raised() {
    let tcp = TcpSettings { window_bytes: Some(1 << 30), clip_allowed: true, ..settings(1) };
    let sink = End::begin(listen(Role::Sink, tcp));
    let tiny = TcpSettings { window_bytes: Some(100), ..settings(1) };
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tiny));
    assert!(sink.connected().granted.window_clipped);
    assert!(source.connected().granted.window_raised);
    source.control.stop();
}

#[test]
fn an_unknown_congestion_control_is_named() {
    let tcp = TcpSettings { congestion: Some("nonesuch".into()), ..settings(1) };
    let failed = End::begin(connect(Role::Source, "127.0.0.1", 9, tcp)).failed();
    assert_eq!(failed.kind, "congestion_unavailable");
    assert!(failed.message.contains("nonesuch") && failed.message.contains("reno"));
}

#[test]
fn strangers_are_counted_and_disturb_nothing() {
    let tcp = settings(4);
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let port = sink.listening_port();
    let mut talker = TcpStream::connect(("127.0.0.1", port)).unwrap();
    talker.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").unwrap();
    let thief = wire::Opening { token: Token([9; 16]), flow: 0 };
    let mut guesser = TcpStream::connect(("127.0.0.1", port)).unwrap();
    guesser.write_all(&thief.encode()).unwrap();
    let mut answer = [0; 1];
    assert!(matches!(guesser.read(&mut answer), Ok(0) | Err(_)), "a wrong token got an answer");
    let mut wrong_flow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    wrong_flow.write_all(&wire::Opening { token: Token([1; 16]), flow: 4 }.encode()).unwrap();
    assert!(matches!(wrong_flow.read(&mut answer), Ok(0) | Err(_)), "a wrong flow got an answer");
    let mut slow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    slow.write_all(b"F").unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, tcp));
    source.connected();
    source.control.start();
    let (report, _) = sink_report_after_connected(sink);
    let seen = report.strangers;
    assert_eq!((seen.not_an_engine, seen.wrong_token, seen.wrong_flow, seen.unfinished), (1, 1, 1, 1));
    assert_eq!(report.incomplete, None);
}

fn sink_report_after_connected(sink: End) -> (Report, HashMap<i32, i64>) {
    sink.connected();
    sink.report()
}

#[test]
fn a_source_sends_nothing_to_a_host_that_did_not_ask() {
    let bystander = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = bystander.local_addr().unwrap().port();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, settings(1)));
    source.control.start();
    let (mut victim, _) = bystander.accept().unwrap();
    // An echo service sends back what it got: that is not the answer.
    let mut got = [0; wire::OPENING_BYTES];
    victim.read_exact(&mut got).unwrap();
    victim.write_all(&got).unwrap();
    assert_eq!(source.failed().kind, "handshake");
    let mut more = Vec::new();
    // A reset is as good as an end: what counts is that no byte came.
    let _ = victim.read_to_end(&mut more);
    assert!(more.is_empty());
}

#[test]
fn a_crowd_of_silent_strangers_does_not_keep_the_flows_out() {
    let tcp = settings(2);
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let port = sink.listening_port();
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, tcp));
    source.connected();
    source.control.start();
    let (report, _) = sink_report_after_connected(sink);
    assert!(report.strangers.crowded_out > 0);
    assert_eq!(report.strangers.crowded_out + report.strangers.unfinished, 100);
    assert_eq!(report.incomplete, None);
    drop(crowd);
}

#[test]
fn flows_that_carry_nothing_or_end_early_are_not_whole() {
    for bytes in [0, 1000] {
        let sink = End::begin(listen(Role::Sink, settings(1)));
        let mut flow = TcpStream::connect(("127.0.0.1", sink.listening_port())).unwrap();
        flow.write_all(&wire::Opening { token: Token([1; 16]), flow: 0 }.encode()).unwrap();
        let mut answer = [0; wire::ANSWER_BYTES];
        flow.read_exact(&mut answer).unwrap();
        flow.write_all(&vec![7; bytes]).unwrap();
        drop(flow);
        let (report, _) = sink_report_after_connected(sink);
        assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("ended_early"), "{bytes} B");
    }
}

#[test]
fn a_cpu_that_is_not_there_fails_before_any_traffic() {
    let tcp = TcpSettings { cpus: vec![0, 1023], ..settings(2) };
    let failed = End::begin(listen(Role::Sink, tcp)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Prepare, "settings"));
    assert!(failed.message.contains("CPU 1023"));
}

#[test]
fn more_than_an_engine_can_bear_is_refused() {
    for tcp in [
        settings(u32::MAX),
        TcpSettings { length_bytes: u32::MAX, ..settings(1) },
        TcpSettings { duration_us: u64::MAX, ..settings(1) },
        TcpSettings { silence_timeout_us: 0, ..settings(1) },
    ] {
        assert_eq!(End::begin(listen(Role::Sink, tcp)).failed().kind, "settings");
    }
}

#[test]
fn a_range_of_ports_is_used_up_in_order() {
    let first = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ports = Some(wire::PortRange { first, last: first });
    let meeting = Meeting::Listen { bind: Some([127, 0, 0, 1].into()), ports };
    let one = End::begin(prepare(Role::Sink, meeting.clone(), settings(1)));
    assert_eq!(one.listening_port(), first);
    let two = End::begin(prepare(Role::Sink, meeting, settings(1)));
    assert_eq!(two.failed().kind, "no_free_port");
    one.control.stop();
}

#[test]
fn a_sink_that_nobody_visits_gives_up() {
    let tcp = TcpSettings { connect_timeout_us: 100_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, tcp));
    sink.listening_port();
    let failed = sink.failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Listen, "accept_timeout"));
    assert!(failed.message.contains("2 of 2"));
}

#[test]
fn nobody_listening_is_a_failed_connection() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failed = End::begin(connect(Role::Source, "127.0.0.1", free, settings(1))).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect"));
}

#[test]
fn a_stopped_trial_reports_what_it_has() {
    let tcp = TcpSettings { duration_us: 60_000_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp));
    source.connected();
    source.control.start();
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
    sink.write_all(&opening.answer(Token([2; 16]))).unwrap();
    source.connected();
    source.control.start();
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
    source.control.start();
    sink.connected();
    assert!(matches!(sink.next(), Event::Progress(_)));
    sink.control.stop();
    let (report, _) = source.report();
    assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("broken"));
}
