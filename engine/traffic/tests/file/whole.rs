//! Files that arrive, in every way that settings have.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use wire::{Cache, Content, FileSettings, FlowEnd, Part, Sync, Verify};

use crate::support::{bytes, connected, run, settings, total};

const ALL: i64 = 3 * 500_001;

#[test]
fn every_byte_is_read_sent_written_synced_and_given_back_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let [source, sink] = run(&settings(folder.path()));
    for (report, tables) in [&source, &sink] {
        assert_eq!(report.incomplete, None);
        assert_eq!(bytes(report), ALL.cast_unsigned());
        assert!(report.flows.iter().all(|flow| flow.end == FlowEnd::Drained), "{:?}", report.flows);
        assert_eq!(total(tables, "storage", "storage_bytes"), ALL);
        assert_eq!(total(tables, "storage", "network_bytes"), ALL);
        assert_eq!(total(tables, "samples", "bytes"), ALL);
    }
    assert_eq!(total(&sink.1, "storage", "synced_bytes"), ALL);
    assert_eq!(total(&sink.1, "storage", "files"), 3);
    assert_eq!(total(&source.1, "storage", "synced_bytes"), 0);
    assert!(sink.1.contains_key("devices"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// As beside a probe that looks at the idle path first.
#[test]
fn a_sink_that_waits_for_the_start_waits_for_no_network() {
    const BEFORE: Duration = Duration::from_secs(3);
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let (source, sink) = connected(&settings, &settings);
    thread::sleep(BEFORE);
    source.control.start(Instant::now());
    let ((report, tables), _) = (sink.report(), source.report());
    assert_eq!(bytes(&report), ALL.cast_unsigned());
    let waited_ns = total(&tables, "storage", "waits_for_network_ns");
    assert!(u128::try_from(waited_ns).unwrap() < BEFORE.as_nanos(), "{waited_ns} ns of two flows");
}

#[test]
fn parts_leave_out_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    for (part, reads, sends, writes) in
        [(Part::Read, true, false, false), (Part::Network, false, true, false), (Part::Write, false, false, true)]
    {
        let [source, sink] = run(&FileSettings { part, ..settings(folder.path()) });
        let seen = [
            total(&source.1, "storage", "storage_bytes"),
            total(&sink.1, "storage", "network_bytes"),
            total(&sink.1, "storage", "storage_bytes"),
        ];
        assert_eq!(seen, [reads, sends, writes].map(|does| if does { ALL } else { 0 }), "{part:?}");
        assert_eq!([bytes(&source.0), bytes(&sink.0)], [ALL.cast_unsigned(); 2], "{part:?}");
        assert_eq!((source.0.incomplete, sink.0.incomplete), (None, None), "{part:?}");
    }
}

#[test]
fn flows_that_have_nothing_to_carry_end_as_well() {
    let folder = tempfile::tempdir().unwrap();
    for part in [Part::Whole, Part::Read, Part::Network, Part::Write] {
        for file_bytes in [0, 1] {
            let mut settings = FileSettings { part, files: 1, file_bytes, ..settings(folder.path()) };
            settings.tcp.flows = 4;
            let [source, sink] = run(&settings);
            assert_eq!((&source.0.incomplete, &sink.0.incomplete), (&None, &None), "{settings:?}");
            assert_eq!([bytes(&source.0), bytes(&sink.0)], [file_bytes; 2], "{settings:?}");
        }
    }
}

#[test]
fn caches_syncs_and_contents_carry_the_same_bytes() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let other = |cache, sync, content, verify| FileSettings { cache, sync, content, verify, ..settings(folder.path()) };
    for settings in [
        other(Cache::Direct, Sync::File, Content::Random, Verify::Stored),
        other(Cache::Direct, Sync::Write, Content::Zeros, Verify::Received),
        other(Cache::Warm, Sync::None, Content::Zeros, Verify::None),
        other(Cache::Dropped, Sync::Write, Content::Random, Verify::Stored),
    ] {
        let [source, sink] = run(&settings);
        assert_eq!((&source.0.incomplete, &sink.0.incomplete), (&None, &None), "{settings:?}");
        assert_eq!(bytes(&sink.0), ALL.cast_unsigned(), "{settings:?}");
        let synced = if settings.sync == Sync::None { 0 } else { ALL };
        assert_eq!(total(&sink.1, "storage", "synced_bytes"), synced, "{settings:?}");
    }
}

#[test]
fn the_kernel_sends_the_same_bytes_whether_they_are_compared_or_not() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for verify in [Verify::Stored, Verify::None] {
        for part in [Part::Whole, Part::Read, Part::Network, Part::Write] {
            let settings = FileSettings { sendfile: true, verify, part, ..settings(folder.path()) };
            let [source, sink] = run(&settings);
            assert_eq!((&source.0.incomplete, &sink.0.incomplete), (&None, &None), "{settings:?}");
            assert_eq!([bytes(&source.0), bytes(&sink.0)], [ALL.cast_unsigned(); 2], "{settings:?}");
            let reads = matches!(part, Part::Whole | Part::Read);
            assert_eq!(total(&source.1, "storage", "storage_bytes"), if reads { ALL } else { 0 }, "{settings:?}");
            let sends = matches!(part, Part::Whole | Part::Network);
            assert_eq!(total(&source.1, "storage", "network_bytes"), if sends { ALL } else { 0 }, "{settings:?}");
        }
    }
}

#[test]
fn files_that_are_there_already_are_sent_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let given = tempfile::tempdir().unwrap();
    for (name, length) in [("a", 0), ("b", 70_000), ("c", 1)] {
        fs::write(given.path().join(name), vec![7; length]).unwrap();
    }
    fs::create_dir(given.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", given.path().join("link")).unwrap();
    let settings =
        FileSettings { existing: Some(given.path().to_str().unwrap().into()), files: 100, ..settings(folder.path()) };
    let [source, sink] = run(&settings);
    assert_eq!((&source.0.incomplete, &sink.0.incomplete), (&None, &None));
    assert_eq!(bytes(&sink.0), 70_001);
    assert_eq!(fs::read(given.path().join("b")).unwrap(), vec![7; 70_000]);
    assert_eq!(fs::read_dir(given.path()).unwrap().count(), 5);
}

#[test]
fn a_job_that_is_too_long_is_cut_and_what_was_moved_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = FileSettings { file_bytes: 1 << 40, files: 1, part: Part::Network, ..settings(folder.path()) };
    settings.tcp.duration_us = 300_000;
    let [source, sink] = run(&settings);
    assert_eq!((&source.0.incomplete, &sink.0.incomplete), (&None, &None));
    assert_eq!(bytes(&source.0), bytes(&sink.0));
    assert!(bytes(&sink.0) > 0 && bytes(&sink.0) < 1 << 40);
}

#[test]
fn a_stop_ends_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let settings = FileSettings { file_bytes: 1 << 40, files: 1, part: Part::Network, ..settings(folder.path()) };
    let (source, sink) = connected(&settings, &settings);
    source.control.start(Instant::now());
    thread::sleep(Duration::from_millis(100));
    source.control.stop();
    let (report, _) = source.report();
    assert_eq!(report.incomplete.unwrap().kind, "stopped");
    assert!(sink.report().0.incomplete.is_some());
}
