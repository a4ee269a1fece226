//! The real binary: what it does when its controller goes away, or is none.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use wire::{Event, FrameKind, HEADER_BYTES, MAGIC, Prepare, RendezvousRole, Request, Role, TcpSettings, Test, Token};

const PATIENCE: Duration = Duration::from_secs(10);

struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
}

impl Engine {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_flowsweep-engine"))
            .arg("agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, mut output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut magic = [0; 16];
        output.read_exact(&mut magic).unwrap();
        assert_eq!(&magic, MAGIC);
        let mut engine = Self { child, input, output };
        assert!(matches!(engine.next(), Event::Hello(_)));
        engine
    }

    fn send(&mut self, request: &Request) {
        let frame = wire::encode(FrameKind::Json, &serde_json::to_vec(request).unwrap()).unwrap();
        self.input.as_mut().unwrap().write_all(&frame).unwrap();
    }

    fn next(&mut self) -> Event {
        let mut header = [0; HEADER_BYTES];
        self.output.read_exact(&mut header).unwrap();
        let (kind, length) = wire::decode_header(header).unwrap();
        let mut payload = vec![0; length];
        self.output.read_exact(&mut payload).unwrap();
        match kind {
            FrameKind::Json => serde_json::from_slice(&payload).unwrap(),
            FrameKind::Arrow => self.next(),
        }
    }

    /// Closes its input and waits for its end.
    fn leave(mut self) -> bool {
        drop(self.input.take());
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(self.child.wait().unwrap().success()));
        ended.recv_timeout(PATIENCE).unwrap()
    }
}

fn prepare(role: Role, rendezvous: RendezvousRole) -> Request {
    let tcp = TcpSettings {
        flows: 2,
        length_bytes: 1 << 16,
        duration_us: 60_000_000,
        sample_interval_us: 100_000,
        connect_timeout_us: 5_000_000,
        drain_timeout_us: 5_000_000,
        silence_timeout_us: 5_000_000,
        rate_bps: Some(8_000_000),
        ..TcpSettings::default()
    };
    let (token, answer) = (Token([3; 16]), Token([4; 16]));
    Request::Prepare(Box::new(Prepare {
        trial: "t".into(),
        role,
        token,
        answer,
        rendezvous,
        test: Test::Tcp(tcp),
        iperf3: None,
    }))
}

#[test]
fn an_engine_whose_controller_leaves_ends_its_traffic_and_exits() {
    let (mut sink, mut source) = (Engine::start(), Engine::start());
    sink.send(&prepare(Role::Sink, RendezvousRole::Listen { bind: None, ports: None }));
    let Event::Listening(listening) = sink.next() else { panic!("the sink does not listen") };
    let address = "127.0.0.1".into();
    source.send(&prepare(
        Role::Source,
        RendezvousRole::Connect { address, port: listening.port, bind: None, further: vec![] },
    ));
    assert!(matches!(source.next(), Event::Connected(_)));
    assert!(matches!(sink.next(), Event::Connected(_)));
    source.send(&Request::Start { trial: "t".into(), at_unix_ns: None });
    assert!(matches!(sink.next(), Event::Progress(progress) if progress.bytes > 0));
    assert!(source.leave());
    // The other end notices at once, and reports.
    loop {
        match sink.next() {
            Event::Progress(_) => {}
            Event::Report(report) => break assert!(report.incomplete.is_some()),
            other => panic!("expected a report, got {other:?}"),
        }
    }
    assert!(sink.leave());
}

#[test]
fn an_engine_whose_controller_falls_silent_ends_its_traffic_and_exits() {
    let (mut sink, mut source) = (Engine::start(), Engine::start());
    // One hears now and then that somebody is there; the other one does not, though its input stays open.
    sink.send(&Request::Alive);
    source.send(&Request::Alive);
    sink.send(&prepare(Role::Sink, RendezvousRole::Listen { bind: None, ports: None }));
    let Event::Listening(listening) = sink.next() else { panic!("the sink does not listen") };
    let address = "127.0.0.1".into();
    source.send(&prepare(
        Role::Source,
        RendezvousRole::Connect { address, port: listening.port, bind: None, further: vec![] },
    ));
    source.send(&Request::Start { trial: "t".into(), at_unix_ns: None });
    let (begin, limit) = (Instant::now(), Duration::from_secs(30));
    let ended = loop {
        match source.child.try_wait().unwrap() {
            Some(status) => break status,
            None if begin.elapsed() > 2 * limit => panic!("it goes on"),
            None => thread::sleep(Duration::from_millis(100)),
        }
        sink.send(&Request::Alive);
    };
    assert!(!ended.success() && begin.elapsed() >= limit);
    while !matches!(sink.next(), Event::Report(report) if report.incomplete.is_some()) {}
    assert!(sink.leave());
}

#[test]
fn schemas_are_printed() {
    for (what, word) in [("messages", "\"prepare\""), ("samples", "\"snd_cwnd\""), ("cpu", "\"softirq_us\"")] {
        let output = Command::new(env!("CARGO_BIN_EXE_flowsweep-engine")).args(["schema", what]).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains(word), "{what}");
    }
}
