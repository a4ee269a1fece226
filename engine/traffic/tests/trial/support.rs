//! Both ends of real trials over loopback, in one process.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use arrow_array::{Array, Int32Array, Int64Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use traffic::{Control, Outbox, SampleBatch};
use wire::{Encryption, Event, Failed, Mode, Prepare, RendezvousRole, Report, Role, TcpSettings, Test, Token};

const PATIENCE: Duration = Duration::from_secs(60);

/// One end of a trial, running on its own thread.
pub struct End {
    pub control: Arc<Control>,
    pub samples: Arc<Mutex<Vec<RecordBatch>>>,
    pub cpu: Arc<Mutex<Vec<RecordBatch>>>,
    events: Receiver<Event>,
    thread: JoinHandle<()>,
}

struct Collector {
    events: Mutex<Sender<Event>>,
    samples: Arc<Mutex<Vec<RecordBatch>>>,
    cpu: Arc<Mutex<Vec<RecordBatch>>>,
}

impl Outbox for Collector {
    fn event(&self, event: Event) {
        let _ = self.events.lock().unwrap().send(event);
    }

    fn samples(&self, stream: SampleBatch) {
        for batch in StreamReader::try_new(&stream.0[..], None).unwrap().map(Result::unwrap) {
            let is_cpu = batch.schema().metadata()["table"] == "cpu";
            let table = if is_cpu { &self.cpu } else { &self.samples };
            table.lock().unwrap().push(batch);
        }
    }
}

impl End {
    pub fn begin(prepare: Prepare) -> Self {
        let (sender, events) = channel();
        let (samples, cpu) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let collector = Collector { events: Mutex::new(sender), samples: samples.clone(), cpu: cpu.clone() };
        let control = Arc::new(Control::default());
        let held = control.clone();
        let thread = thread::spawn(move || traffic::carry_out(&prepare, &[], &held, &collector));
        Self { control, samples, cpu, events, thread }
    }

    pub fn next(&self) -> Event {
        self.events.recv_timeout(PATIENCE).unwrap()
    }

    pub fn listening_port(&self) -> u16 {
        match self.next() {
            Event::Listening(listening) => listening.port,
            other => panic!("expected listening, got {other:?}"),
        }
    }

    pub fn connected(&self) -> wire::Connected {
        match self.next() {
            Event::Connected(connected) => connected,
            other => panic!("expected connected, got {other:?}"),
        }
    }

    pub fn report(self) -> (Report, HashMap<i32, i64>) {
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

    /// The report of an end that has not said yet that it is connected.
    pub fn connected_report(self) -> Report {
        self.connected();
        self.report().0
    }

    pub fn failed(&self) -> Failed {
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

pub fn settings(flows: u32) -> TcpSettings {
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
        fwmark: None,
        cpus: Vec::new(),
        family: None,
        mode: Mode::Copy,
        encryption: Encryption::None,
        until: None,
    }
}

pub fn prepare(role: Role, rendezvous: RendezvousRole, tcp: TcpSettings) -> Prepare {
    Prepare {
        trial: "t".into(),
        role,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        rendezvous,
        test: Test::Tcp(tcp),
        iperf3: None,
    }
}

pub fn listen(role: Role, tcp: TcpSettings) -> Prepare {
    prepare(role, RendezvousRole::Listen { bind: None, ports: None }, tcp)
}

pub fn connect(role: Role, address: &str, port: u16, tcp: TcpSettings) -> Prepare {
    prepare(role, RendezvousRole::Connect { address: address.into(), port, bind: None, further: vec![] }, tcp)
}
