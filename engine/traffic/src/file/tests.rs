//! Whole trials whose sink has a disk that takes its time, or never ends.

use std::{
    fs::File,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use wire::{
    Cache, Content, Event, FileSettings, FlowEnd, Part, RendezvousRole, Report, Role, Sync, TcpSettings, Token, Verify,
};

use super::{
    carry_out_with,
    reading::{ReadFile, read_at_least},
    store::SyncFile,
};
use crate::{Control, Outbox, SampleBatch, Task};

/// Settings of a small trial.
pub fn settings() -> FileSettings {
    let tcp = TcpSettings {
        flows: 1,
        length_bytes: 4096,
        duration_us: 10_000_000,
        sample_interval_us: 10_000,
        connect_timeout_us: 5_000_000,
        drain_timeout_us: 5_000_000,
        silence_timeout_us: 5_000_000,
        ..TcpSettings::default()
    };
    FileSettings {
        tcp,
        folder: std::env::temp_dir().to_string_lossy().into_owned(),
        files: 1,
        file_bytes: 10_000,
        existing: None,
        content: Content::Random,
        part: Part::Whole,
        cache: Cache::Dropped,
        sync: Sync::File,
        sendfile: false,
        verify: Verify::Stored,
    }
}

/// Much longer than any end may take whose disk hangs, and shorter than that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn hangs(file: &File) -> io::Result<()> {
    thread::sleep(3 * PATIENCE);
    file.sync_all()
}

fn hangs_in_reading(_: &File, part: &mut [u8], _: u64, length: usize) -> io::Result<()> {
    thread::sleep(3 * PATIENCE);
    part.get(..length).map(drop).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn takes_a_while(file: &File) -> io::Result<()> {
    thread::sleep(Duration::from_millis(5));
    file.sync_all()
}

static SYNCED: AtomicU32 = AtomicU32::new(0);

fn counts(file: &File) -> io::Result<()> {
    SYNCED.fetch_add(1, Ordering::AcqRel);
    file.sync_all()
}

struct Told(Mutex<Sender<Event>>);

impl Outbox for Told {
    fn event(&self, event: Event) {
        let _ = self.0.lock().unwrap().send(event);
    }

    fn samples(&self, _: SampleBatch) {}
}

/// One end, running on its own thread.
struct End {
    control: Arc<Control>,
    events: Receiver<Event>,
}

impl End {
    fn begin(role: Role, rendezvous: RendezvousRole, settings: &FileSettings, calls: (SyncFile, ReadFile)) -> Self {
        let (sender, events) = channel();
        let (control, settings) = (Arc::new(Control::default()), settings.clone());
        let (held, outbox) = (control.clone(), Told(Mutex::new(sender)));
        thread::spawn(move || {
            let (token, answer, rendezvous) = (Token([1; 16]), Token([2; 16]), &rendezvous);
            let task = Task { trial: "t", role, token, answer, rendezvous, settings: &settings };
            carry_out_with(calls.0, calls.1, &task, &held, &outbox).unwrap();
        });
        Self { control, events }
    }

    /// The report, and how often it told how far it was before.
    fn report(&self) -> (Report, usize) {
        let mut told = 0;
        loop {
            match self.events.recv_timeout(PATIENCE).unwrap() {
                Event::Progress(_) => told += 1,
                Event::Report(report) => return (*report, told),
                other => panic!("expected a report, got {other:?}"),
            }
        }
    }
}

/// Source and sink of a trial that has begun.
fn begun(settings: &FileSettings, sync_file: SyncFile) -> (End, End) {
    begun_with(settings, (sync_file, read_at_least))
}

fn begun_with(settings: &FileSettings, calls: (SyncFile, ReadFile)) -> (End, End) {
    let listen = RendezvousRole::Listen { bind: Some([127, 0, 0, 1].into()), ports: None };
    let sink = End::begin(Role::Sink, listen, settings, calls);
    let Event::Listening(listening) = sink.events.recv_timeout(PATIENCE).unwrap() else { panic!("it does not listen") };
    let (address, port) = ("127.0.0.1".into(), listening.port);
    let connect = RendezvousRole::Connect { address, port, bind: None, further: Vec::new() };
    let source = End::begin(Role::Source, connect, settings, calls);
    for end in [&source, &sink] {
        assert!(matches!(end.events.recv_timeout(PATIENCE).unwrap(), Event::Connected(_)));
    }
    source.control.start(Instant::now());
    (source, sink)
}

/// A small job, which may send for 200 ms and then take so long to be over.
fn short(drain: Duration) -> FileSettings {
    let mut settings = settings();
    settings.tcp.duration_us = 200_000;
    settings.tcp.drain_timeout_us = u64::try_from(drain.as_micros()).unwrap();
    settings
}

fn kind(report: &Report) -> Option<&str> {
    report.incomplete.as_ref().map(|failed| &failed.kind[..])
}

#[test]
fn a_sync_that_never_ends_leaves_a_trial_that_is_not_whole_with_all_its_reports() {
    // One file is of three blocks, one of a single block: its flow has done nothing else.
    for (file_bytes, written) in [(10_000, 8192), (4096, 0)] {
        let settings = FileSettings { file_bytes, ..short(Duration::from_millis(300)) };
        let (source, sink) = begun(&settings, hangs);
        for (end, bytes) in [(sink, written), (source, file_bytes)] {
            let (report, _) = end.report();
            assert_eq!(kind(&report), Some("drain_timeout"), "{report:?}");
            assert_eq!((report.flows[0].end, report.flows[0].bytes), (FlowEnd::DrainTimeout, bytes));
        }
    }
}

#[test]
fn a_read_that_never_ends_leaves_a_trial_that_is_not_whole_with_all_its_reports() {
    let (source, sink) = begun_with(&short(Duration::from_millis(300)), (File::sync_all, hangs_in_reading));
    assert_eq!(kind(&source.report().0), Some("drain_timeout"));
    assert!(kind(&sink.report().0).is_some());
}

#[test]
fn a_trial_is_stopped_whatever_its_disk_does() {
    let (source, sink) = begun(&short(10 * PATIENCE), hangs);
    thread::sleep(Duration::from_millis(300));
    sink.control.stop();
    assert_eq!(kind(&sink.report().0), Some("stopped"));
    source.control.stop();
    source.report();
}

#[test]
fn what_nothing_has_synced_is_before_it_is_read_back() {
    let settings = |verify| FileSettings { files: 3, sync: Sync::None, verify, ..settings() };
    for (verify, synced) in [(Verify::Received, 0), (Verify::Stored, 3)] {
        let (_source, sink) = begun(&settings(verify), counts);
        assert_eq!(kind(&sink.report().0), None);
        assert_eq!(SYNCED.load(Ordering::Acquire), synced, "{verify:?}");
    }
}

#[test]
fn reading_back_ends_with_the_drain_and_tells_how_far_it_is_until_then() {
    let settings = FileSettings { sync: Sync::None, ..short(Duration::from_millis(2500)) };
    let (_source, sink) = begun(&settings, hangs);
    let (report, told) = sink.report();
    assert_eq!(kind(&report), Some("not_read_back"));
    assert_eq!(report.flows[0].end, FlowEnd::Drained);
    assert!(told >= 2, "told {told} times");
}

#[test]
fn a_stop_ends_reading_back() {
    let settings = FileSettings { sync: Sync::None, ..short(10 * PATIENCE) };
    let (_source, sink) = begun(&settings, hangs);
    thread::sleep(Duration::from_millis(300));
    sink.control.stop();
    assert_eq!(kind(&sink.report().0), Some("stopped"));
}

/// Two thousand files take ten seconds, and their lengths fit into the buffers of a connection.
#[test]
fn a_sink_that_writes_slowly_holds_the_source_back_and_its_job_is_cut() {
    let job = FileSettings { files: 2000, file_bytes: 4096, part: Part::Write, ..short(PATIENCE) };
    let (source, sink) = begun(&job, takes_a_while);
    let [(sent, _), (written, _)] = [source.report(), sink.report()];
    assert_eq!([kind(&sent), kind(&written)], [None, None]);
    assert_eq!(sent.flows[0].bytes, written.flows[0].bytes);
    let files = written.flows[0].bytes / 4096;
    assert!((1..1000).contains(&files), "{files} files");
}
