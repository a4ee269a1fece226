use std::time::Instant;

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use wire::{Connected, Echo, Prepare, Report, Role, RttSettings, Test};

use crate::ends::{self, End, Tables, column};

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
    let echo: StringArray = column(batch, "echo");
    let names = ["sequence", "size_bytes", "sent_ns", "rtt_ns"];
    let [sequence, size, sent, rtt]: [Int64Array; 4] = names.map(|name| column(batch, name));
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

pub fn listen(role: Role, rtt: RttSettings) -> Prepare {
    ends::listen(role, Test::Rtt(rtt))
}

pub fn connect(role: Role, address: &str, port: u16, rtt: RttSettings) -> Prepare {
    ends::connect(role, address, port, Test::Rtt(rtt))
}

/// What source and sink reported of a measurement that ran over loopback, and what was granted at the source.
pub fn run(address: &str, listener: Role, rtt: &RttSettings) -> (Connected, (Report, Vec<Row>), Report) {
    let (source, sink) = ends::meet(address, listener, &Test::Rtt(rtt.clone()));
    let granted = source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let reported = report(source);
    (granted, reported, sink.report().0)
}
