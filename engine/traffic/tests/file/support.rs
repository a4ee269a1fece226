use std::{path::Path, time::Instant};

use arrow_array::Int64Array;
use wire::{Cache, Content, FileSettings, Part, Report, Role, Sync, TcpSettings, Test, Verify};

use crate::ends::{self, End, Tables, connect, listen};

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

pub fn test(settings: &FileSettings) -> Test {
    Test::File(Box::new(settings.clone()))
}

/// The sink, and a source that has connected to it.
pub fn connected(source: &FileSettings, sink: &FileSettings) -> (End, End) {
    let receiving = End::begin(listen(Role::Sink, test(sink)));
    let sending = End::begin(connect(Role::Source, "127.0.0.1", receiving.listening_port(), test(source)));
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
    let values = batches.iter().map(|batch| ends::column::<Int64Array>(batch, column).iter().flatten().sum::<i64>());
    values.sum()
}
