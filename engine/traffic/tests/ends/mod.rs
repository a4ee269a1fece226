//! One end of a trial of any test on a thread of its own, and what it tells: for the tests beside this folder.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use traffic::{Control, Outbox, SampleBatch};
use wire::{Connected, Event, Failed, Prepare, RendezvousRole, Report, Role, Test, Token};

pub const TOKEN: Token = Token([1; 16]);
pub const ANSWER: Token = Token([2; 16]);

const PATIENCE: Duration = Duration::from_secs(60);

/// What was reported, by the name of its table.
pub type Tables = HashMap<String, Vec<RecordBatch>>;

/// One end, running on its own thread.
pub struct End {
    pub control: Arc<Control>,
    tables: Arc<Mutex<Tables>>,
    events: Receiver<Event>,
    pub thread: JoinHandle<()>,
}

struct Collector {
    events: Mutex<Sender<Event>>,
    tables: Arc<Mutex<Tables>>,
}

impl Outbox for Collector {
    fn event(&self, event: Event) {
        let _ = self.events.lock().unwrap().send(event);
    }

    fn samples(&self, stream: SampleBatch) {
        for batch in StreamReader::try_new(&stream.0[..], None).unwrap().map(Result::unwrap) {
            let table = batch.schema().metadata()["table"].clone();
            self.tables.lock().unwrap().entry(table).or_default().push(batch);
        }
    }
}

impl End {
    pub fn begin(prepare: Prepare) -> Self {
        Self::begin_inside(prepare, |work| work())
    }

    /// `inside`: does its work where the end is to be, such as in a network namespace.
    pub fn begin_inside(prepare: Prepare, inside: impl FnOnce(&mut (dyn FnMut() + Send)) + Send + 'static) -> Self {
        let (sender, events) = channel();
        let tables = Arc::new(Mutex::new(Tables::new()));
        let collector = Collector { events: Mutex::new(sender), tables: tables.clone() };
        let control = Arc::new(Control::default());
        let held = control.clone();
        let thread = thread::spawn(move || inside(&mut || traffic::carry_out(&prepare, &[], &held, &collector)));
        Self { control, tables, events, thread }
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

    /// The report and the tables, once no more can come.
    pub fn report(self) -> (Report, Tables) {
        let report = loop {
            match self.next() {
                Event::Progress(_) => {}
                Event::Report(report) => break *report,
                other => panic!("expected a report, got {other:?}"),
            }
        };
        self.thread.join().unwrap();
        assert!(self.events.try_recv().is_err(), "a report is the last word");
        let tables = std::mem::take(&mut *self.tables.lock().unwrap());
        for (name, rows) in &report.table_rows {
            let received: usize = tables.get(name).map_or(0, |batches| batches.iter().map(RecordBatch::num_rows).sum());
            assert_eq!(*rows, received as u64, "{name}");
        }
        (report, tables)
    }
}

pub fn prepare(role: Role, rendezvous: RendezvousRole, test: Test) -> Prepare {
    Prepare { trial: "t".into(), role, token: TOKEN, answer: ANSWER, rendezvous, test, iperf3: None }
}

pub fn listen(role: Role, test: Test) -> Prepare {
    prepare(role, RendezvousRole::Listen { bind: None, ports: None }, test)
}

pub fn connect(role: Role, address: &str, port: u16, test: Test) -> Prepare {
    prepare(role, RendezvousRole::Connect { address: address.into(), port, bind: None, further: vec![] }, test)
}

/// Source and sink, one of which listens at an address while the other one goes there.
pub fn meet(address: &str, listener: Role, test: &Test) -> (End, End) {
    let connector = if listener == Role::Sink { Role::Source } else { Role::Sink };
    let listening = End::begin(listen(listener, test.clone()));
    let connecting = End::begin(connect(connector, address, listening.listening_port(), test.clone()));
    if listener == Role::Sink { (connecting, listening) } else { (listening, connecting) }
}

/// A column of a table, by the type of its values.
pub fn column<Values: Array + Clone + 'static>(batch: &RecordBatch, name: &str) -> Values {
    batch.column_by_name(name).unwrap().as_any().downcast_ref::<Values>().unwrap().clone()
}
