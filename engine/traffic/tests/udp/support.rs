use std::{collections::BTreeSet, time::Instant};

use arrow_array::{Int32Array, Int64Array, StringArray};
use wire::{Prepare, Report, Role, Test, UdpCounts, UdpSettings};

use crate::ends::{self, End, Tables, column};

/// The report of one end, and its tables.
pub struct Reported {
    pub report: Report,
    tables: Tables,
}

impl Reported {
    /// Waits until an end has reported.
    pub fn by(end: End) -> Self {
        let (report, tables) = end.report();
        Self { report, tables }
    }

    /// What was counted of a flow.
    pub fn counts(&self, flow: usize) -> UdpCounts {
        self.report.flows[flow].udp.unwrap()
    }

    /// The sum of a column over all rows.
    pub fn sum(&self, table: &str, column: &str) -> i64 {
        self.values(table, column).iter().flatten().sum()
    }

    /// All values of a column.
    pub fn values(&self, table: &str, column: &str) -> Vec<Option<i64>> {
        let batches = self.tables.get(table).map_or(&[][..], Vec::as_slice);
        batches.iter().flat_map(|batch| ends::column::<Int64Array>(batch, column).iter().collect::<Vec<_>>()).collect()
    }

    /// Threads that reported their CPU time, by the index of their flow.
    pub fn threads(&self) -> BTreeSet<i32> {
        let batches = self.tables["cpu"].iter().flat_map(|batch| {
            let (kinds, ids): (StringArray, Int32Array) = (column(batch, "kind"), column(batch, "id"));
            let of_threads = (0..batch.num_rows()).filter(|row| kinds.value(*row) == "thread");
            of_threads.map(|row| ids.value(row)).collect::<Vec<_>>()
        });
        batches.collect()
    }

    /// Buckets of a histogram, over all flows: low, high and count.
    pub fn histogram(&self, quantity: &str) -> Vec<(i64, i64, i64)> {
        let batches = self.tables.get("histograms").map_or(&[][..], Vec::as_slice);
        let rows = batches.iter().flat_map(|batch| {
            let names: StringArray = column(batch, "quantity");
            let [low, high, count]: [Int64Array; 3] = ["low", "high", "count"].map(|name| column(batch, name));
            let wanted = (0..batch.num_rows()).filter(|row| names.value(*row) == quantity);
            wanted.map(|row| (low.value(row), high.value(row), count.value(row))).collect::<Vec<_>>()
        });
        rows.collect()
    }
}

/// At a rate that a busy machine bears.
pub fn settings(flows: u32) -> UdpSettings {
    UdpSettings {
        flows,
        length_bytes: 1000,
        duration_us: 200_000,
        pad_us: 50_000,
        sample_interval_us: 20_000,
        connect_timeout_us: 10_000_000,
        drain_us: 200_000,
        silence_timeout_us: 10_000_000,
        rate_bps: Some(8_000_000),
        gso: true,
        gro: true,
        ..UdpSettings::default()
    }
}

pub fn listen(role: Role, udp: UdpSettings) -> Prepare {
    ends::listen(role, Test::Udp(udp))
}

pub fn connect(role: Role, address: &str, port: u16, udp: UdpSettings) -> Prepare {
    ends::connect(role, address, port, Test::Udp(udp))
}

/// A trial that runs: source and sink, once both are connected, before the start.
pub fn meet(address: &str, listener: Role, udp: &UdpSettings) -> (End, End) {
    ends::meet(address, listener, &Test::Udp(udp.clone()))
}

/// What source and sink reported of a whole trial.
pub fn run(address: &str, listener: Role, udp: &UdpSettings) -> (Reported, Reported) {
    let (source, sink) = meet(address, listener, udp);
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    (Reported::by(source), Reported::by(sink))
}
