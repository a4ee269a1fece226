use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use traffic::{Control, Outbox, SampleBatch};
use wire::{Connected, Echo, Event, Failed, Meeting, Prepare, Report, Role, RttSettings, Test, Token};

const PATIENCE: Duration = Duration::from_secs(60);

/// One end of a measurement, running on its own thread.
pub struct End {
    pub control: Arc<Control>,
    echoes: Arc<Mutex<Vec<RecordBatch>>>,
    events: Receiver<Event>,
    thread: JoinHandle<()>,
}

struct Collector {
    events: Mutex<Sender<Event>>,
    echoes: Arc<Mutex<Vec<RecordBatch>>>,
}

impl Outbox for Collector {
    fn event(&self, event: Event) {
        let _ = self.events.lock().unwrap().send(event);
    }

    fn samples(&self, stream: SampleBatch) {
        let batches = StreamReader::try_new(&stream.0[..], None).unwrap().map(Result::unwrap);
        let echoes = batches.filter(|batch| batch.schema().metadata()["table"] == "echoes");
        self.echoes.lock().unwrap().extend(echoes);
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    pub sequence: i64,
    pub echo: String,
    pub size_bytes: i64,
    pub sent_ns: i64,
    pub rtt_ns: Option<i64>,
}

impl End {
    pub fn begin(prepare: Prepare) -> Self {
        let (sender, events) = channel();
        let echoes = Arc::new(Mutex::new(Vec::new()));
        let collector = Collector { events: Mutex::new(sender), echoes: echoes.clone() };
        let control = Arc::new(Control::default());
        let held = control.clone();
        let thread = thread::spawn(move || traffic::carry_out(&prepare, &held, &collector));
        Self { control, echoes, events, thread }
    }

    pub fn listening_port(&self) -> u16 {
        match self.next() {
            Event::Listening(listening) => listening.port,
            other => panic!("expected listening, got {other:?}"),
        }
    }

    pub fn connected(&self) -> Connected {
        match self.next() {
            Event::Connected(connected) => connected,
            other => panic!("expected connected, got {other:?}"),
        }
    }

    pub fn failed(&self) -> Failed {
        match self.next() {
            Event::Failed(failed) => failed,
            other => panic!("expected a failure, got {other:?}"),
        }
    }

    pub fn report(self) -> (Report, Vec<Row>) {
        let report = loop {
            match self.next() {
                Event::Progress(_) => {}
                Event::Report(report) => break *report,
                other => panic!("expected a report, got {other:?}"),
            }
        };
        self.thread.join().unwrap();
        let rows = self.echoes.lock().unwrap().iter().flat_map(rows).collect();
        (report, rows)
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(PATIENCE).unwrap()
    }
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let integers =
        |name: &str| batch.column_by_name(name).unwrap().as_any().downcast_ref::<Int64Array>().unwrap().clone();
    let echo = batch.column_by_name("echo").unwrap().as_any().downcast_ref::<StringArray>().unwrap().clone();
    let (sequence, size, sent, rtt) =
        (integers("sequence"), integers("size_bytes"), integers("sent_ns"), integers("rtt_ns"));
    let row = |index| Row {
        sequence: sequence.value(index),
        echo: echo.value(index).to_owned(),
        size_bytes: size.value(index),
        sent_ns: sent.value(index),
        rtt_ns: rtt.is_valid(index).then(|| rtt.value(index)),
    };
    (0..batch.num_rows()).map(row).collect()
}

pub fn settings(echo: Echo) -> RttSettings {
    RttSettings {
        echo,
        sizes_bytes: vec![64],
        every_us: 5_000,
        poisson: false,
        seed: 1,
        duration_us: 300_000,
        timeout_us: 500_000,
        connect_timeout_us: 15_000_000,
        dscp: None,
        family: None,
    }
}

pub fn prepare(role: Role, meeting: Meeting, rtt: RttSettings) -> Prepare {
    Prepare {
        trial: "t".into(),
        role,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        meeting,
        test: Test::Rtt(rtt),
        iperf3: None,
    }
}

pub fn listen(role: Role, rtt: RttSettings) -> Prepare {
    prepare(role, Meeting::Listen { bind: None, ports: None }, rtt)
}

pub fn connect(role: Role, address: &str, port: u16, rtt: RttSettings) -> Prepare {
    prepare(role, Meeting::Connect { address: address.into(), port, bind: None }, rtt)
}

/// What source and sink told of a measurement that ran over loopback, and what was granted at the source.
pub fn run(address: &str, listener: Role, rtt: &RttSettings) -> (Connected, (Report, Vec<Row>), Report) {
    let other = if listener == Role::Sink { Role::Source } else { Role::Sink };
    let waiting = End::begin(listen(listener, rtt.clone()));
    let coming = End::begin(connect(other, address, waiting.listening_port(), rtt.clone()));
    let (source, sink) = if listener == Role::Sink { (coming, waiting) } else { (waiting, coming) };
    let granted = source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let told = source.report();
    (granted, told, sink.report().0)
}
