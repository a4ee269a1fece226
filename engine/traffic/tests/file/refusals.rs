//! What an engine does not begin, and what it says of files that did not arrive.

use std::{
    fs::{self, File},
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
    time::{Duration, Instant},
};

use wire::{Cache, FileSettings, Role};

use crate::{
    ends::{End, listen},
    support::{connected, settings, test},
};

fn refused(role: Role, settings: &FileSettings) -> (String, String) {
    let failed = End::begin(listen(role, test(settings))).failed();
    (failed.kind, failed.message)
}

#[test]
fn what_cannot_be_is_refused_before_any_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let good = settings(folder.path());
    for role in [Role::Source, Role::Sink] {
        let (kind, message) = refused(role, &FileSettings { folder: "relative".into(), ..good.clone() });
        assert_eq!((&kind[..], message.contains("relative")), ("settings", true), "{message}");
        let (kind, message) = refused(role, &FileSettings { folder: "/no/such/folder".into(), ..good.clone() });
        assert_eq!((&kind[..], message.contains("/no/such/folder")), ("files", true), "{message}");
        let huge = FileSettings { file_bytes: 1 << 50, files: 100, ..good.clone() };
        let (kind, message) = refused(role, &huge);
        assert_eq!((&kind[..], message.contains("twice")), ("no_space", true), "{message}");
        let mut odd = FileSettings { cache: Cache::Direct, ..good.clone() };
        odd.tcp.length_bytes = 5000;
        assert_eq!(refused(role, &odd).0, "settings");
    }
    let (kind, message) = refused(Role::Source, &FileSettings { existing: Some("/dev/null".into()), ..good });
    assert_eq!((&kind[..], message.contains("regular")), ("files", true), "{message}");
}

#[test]
fn a_source_that_sends_something_else_than_was_asked_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let asked = settings(folder.path());
    let more = FileSettings { file_bytes: asked.file_bytes + 1, ..asked.clone() };
    let (source, sink) = connected(&more, &asked);
    source.control.start(Instant::now());
    let wrong = sink.report().0.incomplete.unwrap();
    let said = "the source announces 1500006 B in 3 files, expected 1500003 B in 3";
    assert!(wrong.message.contains(said), "{}", wrong.message);
}

/// The disk gives back another byte than the one that was written.
#[test]
fn a_byte_that_changed_on_the_disk_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = FileSettings { files: 2, file_bytes: 3 << 20, ..settings(folder.path()) };
    settings.tcp.flows = 1;
    // The second file takes a while, in which the first one is whole.
    settings.tcp.window_bytes = Some(4096);
    settings.tcp.length_bytes = 4096;
    let (source, sink) = connected(&settings, &settings);
    source.control.start(Instant::now());
    let device = fs::metadata(folder.path()).unwrap().dev();
    let until = Instant::now() + Duration::from_secs(20);
    while !change_a_byte(device, settings.file_bytes) {
        assert!(Instant::now() < until, "no file was seen that could be changed");
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(source.report().0.incomplete, None);
    let wrong = sink.report().0.incomplete.unwrap();
    assert_eq!(wrong.kind, "corrupt");
    assert!(wrong.message.contains("file 0"), "{}", wrong.message);
}

/// Changes a byte of a file without a name that this process has open for writing at both ends of its descriptor.
fn change_a_byte(device: u64, bytes: u64) -> bool {
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    for path in open.map(|entry| entry.path()) {
        let Ok(about) = fs::metadata(&path) else { continue };
        let nameless = about.is_file() && about.nlink() == 0 && about.dev() == device;
        if nameless && about.size() == bytes && is_sinks(&path) {
            let file = File::options().read(true).write(true).open(&path).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, 1000).unwrap();
            file.write_all_at(&[!byte[0]], 1000).unwrap();
            file.sync_all().unwrap();
            return true;
        }
    }
    false
}

/// Whether a file is younger than the source's, which were made before the trial began: of four, the third.
fn is_sinks(path: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|about| (about.ctime(), about.ctime_nsec())).unwrap_or_default();
    let own = number(path);
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let older = open.filter(|other| {
        fs::metadata(other).is_ok_and(|about| about.is_file() && about.nlink() == 0 && about.size() == 3 << 20)
            && number(other) < own
    });
    older.count() >= 2
}
