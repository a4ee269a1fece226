use std::{path::Path, time::Instant};

use arrow_array::{Array, Int64Array};
use wire::{
    Cache, Content, FileSettings, Part, Prepare, RendezvousRole, Report, Role, Sync, TcpSettings, Test, Token, Verify,
};

use crate::ends::{End, Tables};

/// Two flows that carry three files of half a megabyte, which is no multiple of anything.
pub fn settings(folder: &Path) -> FileSettings {
    let tcp = TcpSettings {
        flows: 2,
        length_bytes: 16 << 10,
        duration_us: 30_000_000,
        sample_interval_us: 5_000,
        connect_timeout_us: 20_000_000,
        drain_timeout_us: 20_000_000,
        silence_timeout_us: 20_000_000,
        ..TcpSettings::default()
    };
    FileSettings {
        tcp,
        folder: folder.to_str().unwrap().into(),
        files: 3,
        file_bytes: 500_001,
        existing: None,
        content: Content::Random,
        part: Part::Whole,
        cache: Cache::Dropped,
        sync: Sync::File,
        verify: Verify::Stored,
        sendfile: false,
    }
}

pub fn prepare(role: Role, settings: FileSettings, rendezvous: RendezvousRole) -> Prepare {
    Prepare {
        trial: "t1".into(),
        role,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        rendezvous,
        test: Test::File(Box::new(settings)),
        iperf3: None,
    }
}

/// The sink, and a source that has connected to it.
pub fn connected(source: &FileSettings, sink: &FileSettings) -> (End, End) {
    let listen = RendezvousRole::Listen { bind: Some([127, 0, 0, 1].into()), ports: None };
    let receiving = End::begin(prepare(Role::Sink, sink.clone(), listen));
    let port = receiving.listening_port();
    let connect = RendezvousRole::Connect { address: "127.0.0.1".into(), port, bind: None, further: Vec::new() };
    let sending = End::begin(prepare(Role::Source, source.clone(), connect));
    sending.connected();
    receiving.connected();
    (sending, receiving)
}

/// A whole trial: reports and tables of source and sink.
pub fn run(settings: &FileSettings) -> [(Report, Tables); 2] {
    let (source, sink) = connected(settings, settings);
    source.control.start(Instant::now());
    [source.report(), sink.report()]
}

pub fn bytes(report: &Report) -> u64 {
    report.flows.iter().map(|flow| flow.bytes).sum()
}

/// The sum of a column.
pub fn total(tables: &Tables, table: &str, column: &str) -> i64 {
    let batches = tables.get(table).map(Vec::as_slice).unwrap_or_default();
    let values = batches.iter().map(|batch| {
        let values = batch.column_by_name(column).unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
        values.iter().flatten().sum::<i64>()
    });
    values.sum()
}
