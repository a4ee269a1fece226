use std::time::Instant;

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use wire::{Connected, Echo, Prepare, RendezvousRole, Report, Role, RttSettings, Test, Token};

use crate::ends::{End, Tables};

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    pub sequence: i64,
    pub echo: String,
    pub size_bytes: i64,
    pub sent_ns: i64,
    pub rtt_ns: Option<i64>,
}

/// What an end reported, and the probes among it.
pub fn report(end: End) -> (Report, Vec<Row>) {
    let (report, tables) = end.report();
    (report, rows(&tables))
}

fn rows(tables: &Tables) -> Vec<Row> {
    tables.get("echoes").into_iter().flatten().flat_map(rows_of).collect()
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
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

pub fn prepare(role: Role, rendezvous: RendezvousRole, rtt: RttSettings) -> Prepare {
    Prepare {
        trial: "t".into(),
        role,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        rendezvous,
        test: Test::Rtt(rtt),
        iperf3: None,
    }
}

pub fn listen(role: Role, rtt: RttSettings) -> Prepare {
    prepare(role, RendezvousRole::Listen { bind: None, ports: None }, rtt)
}

pub fn connect(role: Role, address: &str, port: u16, rtt: RttSettings) -> Prepare {
    prepare(role, RendezvousRole::Connect { address: address.into(), port, bind: None, further: vec![] }, rtt)
}

/// What source and sink reported of a measurement that ran over loopback, and what was granted at the source.
pub fn run(address: &str, listener: Role, rtt: &RttSettings) -> (Connected, (Report, Vec<Row>), Report) {
    let other = if listener == Role::Sink { Role::Source } else { Role::Sink };
    let waiting = End::begin(listen(listener, rtt.clone()));
    let coming = End::begin(connect(other, address, waiting.listening_port(), rtt.clone()));
    let (source, sink) = if listener == Role::Sink { (coming, waiting) } else { (waiting, coming) };
    let granted = source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let reported = report(source);
    (granted, reported, sink.report().0)
}
