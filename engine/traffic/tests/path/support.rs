//! Both ends of measurements of a path, and what they report.

use std::time::Instant;

use arrow_array::{Array, Int32Array, Int64Array, RecordBatch, StringArray};
use wire::{PathSettings, Prepare, RendezvousRole, Report, Role, Test, Token};

use crate::ends::{End, Tables};

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
    prepare(role, RendezvousRole::Listen { bind: None, ports: None }, path)
}

pub fn connect(role: Role, address: &str, port: u16, path: PathSettings) -> Prepare {
    prepare(role, RendezvousRole::Connect { address: address.into(), port, bind: None, further: vec![] }, path)
}

fn prepare(role: Role, rendezvous: RendezvousRole, path: PathSettings) -> Prepare {
    Prepare {
        trial: "t".into(),
        role,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        rendezvous,
        test: Test::Path(path),
        iperf3: None,
    }
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
        let (ttl, tries) = (int32(batch, "ttl"), int32(batch, "tries"));
        let [size, sent, rtt, spacing] =
            ["size_bytes", "sent_ns", "rtt_ns", "spacing_ns"].map(|name| int64(batch, name));
        let [address, answer] = ["address", "answer"].map(|name| text(batch, name));
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
        let kind = text(batch, "kind");
        let names = ["train", "rate_bps", "sequence", "size_bytes", "sent_ns", "received_ns"];
        let [train, rate, sequence, size, sent, received] = names.map(|name| int64(batch, name));
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

fn int64(batch: &RecordBatch, name: &str) -> Int64Array {
    batch.column_by_name(name).unwrap().as_any().downcast_ref::<Int64Array>().unwrap().clone()
}

fn int32(batch: &RecordBatch, name: &str) -> Int32Array {
    batch.column_by_name(name).unwrap().as_any().downcast_ref::<Int32Array>().unwrap().clone()
}

fn text(batch: &RecordBatch, name: &str) -> StringArray {
    batch.column_by_name(name).unwrap().as_any().downcast_ref::<StringArray>().unwrap().clone()
}
