//! Both ends of measurements of a path, and what they report.

use std::time::Instant;

use arrow_array::{Array, Int32Array, Int64Array, StringArray};
use wire::{PathSettings, Prepare, Report, Role, Test};

use crate::ends::{self, End, Tables, column};

/// A probe of a hop, as the table has it.
#[derive(Clone, Debug)]
pub struct Hop {
    pub ttl: i32,
    pub size_bytes: i64,
    pub sent_ns: i64,
    pub rtt_ns: Option<i64>,
    pub address: Option<String>,
    pub answer: Option<String>,
    pub tries: i32,
    pub spacing_ns: i64,
}

/// A packet of a train or stream, as the table has it.
#[derive(Clone, Debug)]
pub struct Packet {
    pub train: i64,
    pub kind: String,
    pub rate_bps: Option<i64>,
    pub sequence: i64,
    pub size_bytes: i64,
    pub sent_ns: i64,
    pub received_ns: i64,
}

/// What a whole measurement reported.
pub struct Measured {
    pub source: Report,
    pub sink: Report,
    pub hops: Vec<Hop>,
    pub packets: Vec<Packet>,
}

/// Lets the source begin once both ends have met, and waits for their reports.
pub fn carry_through(source: End, sink: End) -> Measured {
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    Measured::of(source, sink)
}

impl Measured {
    /// Waits for the reports of both ends.
    pub fn of(source: End, sink: End) -> Self {
        let (source, probed) = source.report();
        let (sink, taken) = sink.report();
        Self { source, sink, hops: hops(&probed), packets: packets(&taken) }
    }
}

pub fn listen(role: Role, path: PathSettings) -> Prepare {
    ends::listen(role, Test::Path(path))
}

pub fn connect(role: Role, address: &str, port: u16, path: PathSettings) -> Prepare {
    ends::connect(role, address, port, Test::Path(path))
}

/// Nothing but what a test adds.
pub fn settings() -> PathSettings {
    PathSettings {
        every_us: 2_000,
        timeout_us: 500_000,
        deadline_us: 20_000_000,
        connect_timeout_us: 5_000_000,
        seed: 7,
        ..PathSettings::default()
    }
}

fn hops(tables: &Tables) -> Vec<Hop> {
    let rows = tables.get("hops").into_iter().flatten().flat_map(|batch| {
        let [ttl, tries]: [Int32Array; 2] = ["ttl", "tries"].map(|name| column(batch, name));
        let [size, sent, rtt, spacing]: [Int64Array; 4] =
            ["size_bytes", "sent_ns", "rtt_ns", "spacing_ns"].map(|name| column(batch, name));
        let [address, answer]: [StringArray; 2] = ["address", "answer"].map(|name| column(batch, name));
        (0..batch.num_rows()).map(move |row| Hop {
            ttl: ttl.value(row),
            size_bytes: size.value(row),
            sent_ns: sent.value(row),
            rtt_ns: rtt.is_valid(row).then(|| rtt.value(row)),
            address: address.is_valid(row).then(|| address.value(row).to_owned()),
            answer: answer.is_valid(row).then(|| answer.value(row).to_owned()),
            tries: tries.value(row),
            spacing_ns: spacing.value(row),
        })
    });
    rows.collect()
}

fn packets(tables: &Tables) -> Vec<Packet> {
    let rows = tables.get("trains").into_iter().flatten().flat_map(|batch| {
        let kind: StringArray = column(batch, "kind");
        let names = ["train", "rate_bps", "sequence", "size_bytes", "sent_ns", "received_ns"];
        let [train, rate, sequence, size, sent, received]: [Int64Array; 6] = names.map(|name| column(batch, name));
        (0..batch.num_rows()).map(move |row| Packet {
            train: train.value(row),
            kind: kind.value(row).to_owned(),
            rate_bps: rate.is_valid(row).then(|| rate.value(row)),
            sequence: sequence.value(row),
            size_bytes: size.value(row),
            sent_ns: sent.value(row),
            received_ns: received.value(row),
        })
    });
    rows.collect()
}
