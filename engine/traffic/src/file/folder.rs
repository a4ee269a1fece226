//! A folder of this host, and files without names in its file system: whatever ends the engine, none of them is left.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::{Advice, AtFlags, Mode, OFlags, fadvise, fstat, fstatfs, fstatvfs, major, minor, open, openat, unlinkat},
    io::Errno,
};
use sys::Pages;
use wire::{Cache, Content, FileSettings, Sync};

use crate::{
    Control, TrialError,
    defaults::{DIRECT_BYTES, FILES_MAX, MAKE_BYTES, SPACE_FACTOR, WARM_SHARE},
};

/// A folder that is there.
pub struct Folder {
    fd: OwnedFd,
    path: String,
    /// Kind of its file system, as `statfs` says it.
    pub file_system: u64,
    /// Major and minor number of the block device below it, if it is on one.
    pub device: Option<(u32, u32)>,
}

impl Folder {
    /// Opens the folder that a trial names.
    pub fn open(path: &str) -> Result<Self, TrialError> {
        let failed = |errno: Errno| TrialError::Files {
            what: format!(
                "cannot open the folder {path} (it has to be there, and this user has to be allowed to write in it)"
            ),
            source: errno.into(),
        };
        if !Path::new(path).is_absolute() {
            return Err(TrialError::Settings(format!(
                "folder is {path:?}, expected a path from the root, such as /data"
            )));
        }
        let fd = open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let device = fstat(&fd).map_err(failed)?.st_dev;
        let file_system = fstatfs(&fd).map_err(failed)?.f_type;
        let device = (major(device), minor(device));
        Ok(Self {
            fd,
            path: path.to_owned(),
            file_system: u64::try_from(file_system).unwrap_or(0),
            // Major number 0 is what the kernel gives to file systems without a device of their own.
            device: Some(device).filter(|(major, _)| *major != 0),
        })
    }

    /// Refuses files that would take more than half of what is free.
    pub fn check_space(&self, needed_bytes: u64) -> Result<(), TrialError> {
        let space = fstatvfs(&self.fd).map_err(|errno| self.failed("cannot see how much is free below", errno))?;
        let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        if needed_bytes.saturating_mul(SPACE_FACTOR) <= free_bytes {
            return Ok(());
        }
        Err(TrialError::NoSpace { folder: self.path.clone(), needed_bytes, free_bytes })
    }

    /// A new, empty file.
    pub fn unnamed(&self, cache: Cache, sync: Sync) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | direct(cache);
        let flags = if sync == Sync::Write { flags | OFlags::DSYNC } else { flags };
        let mode = Mode::RUSR | Mode::WUSR;
        match openat(&self.fd, ".", flags | OFlags::TMPFILE, mode) {
            Ok(file) => Ok(file.into()),
            // Not every file system has files without names: there it loses its name at once.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {
                let name = format!(".flowsweep-{:016x}", fastrand::u64(..));
                let file = openat(&self.fd, &name, flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode)?;
                unlinkat(&self.fd, &name, AtFlags::empty())?;
                Ok(file.into())
            }
            Err(errno) => Err(errno.into()),
        }
    }

    fn failed(&self, what: &str, source: impl Into<io::Error>) -> TrialError {
        TrialError::Files { what: format!("{what} {}", self.path), source: source.into() }
    }
}

/// A file that a source reads.
#[derive(Debug)]
pub struct SourceFile {
    /// The file; none where its bytes come from memory.
    pub file: Option<File>,
    /// Its size.
    pub bytes: u64,
}

/// How long a source may get its files ready: the sink waits no longer.
#[derive(Clone, Copy)]
pub struct Deadlines {
    /// Files that are not open by then, or not made, fail the trial.
    pub ready: Instant,
    /// What the page cache has by then is what it has.
    pub warm: Instant,
}

impl Deadlines {
    /// From now on, of an end that has so long to connect: what warming leaves of it is for opening files and connecting.
    pub fn within(timeout: Duration) -> Self {
        let now = Instant::now();
        Self { ready: now + timeout, warm: now + timeout / WARM_SHARE }
    }
}

/// Makes the files that a source will read.
pub fn make(
    folder: &Folder,
    settings: &FileSettings,
    control: &Control,
    deadlines: Deadlines,
) -> Result<Vec<SourceFile>, TrialError> {
    folder.check_space(settings.file_bytes.saturating_mul(settings.files.into()))?;
    let mut chunk = Pages::new(MAKE_BYTES).map_err(TrialError::Buffers)?;
    let mut random = fastrand::Rng::new();
    (0..settings.files)
        .map(|_| {
            let failed = |source| folder.failed("cannot make the files to be sent below", source);
            let file = folder.unnamed(Cache::Warm, Sync::None).map_err(failed)?;
            let mut offset = 0;
            while offset < settings.file_bytes {
                if control.stopped() {
                    return Err(TrialError::Stopped);
                }
                if Instant::now() >= deadlines.ready {
                    return Err(failed(io::ErrorKind::TimedOut.into()));
                }
                if settings.content == Content::Random {
                    random.fill(&mut chunk);
                }
                let length = (settings.file_bytes - offset).min(MAKE_BYTES as u64);
                let part = &chunk[..usize::try_from(length).unwrap_or(MAKE_BYTES)];
                file.write_all_at(part, offset).map_err(failed)?;
                offset += length;
            }
            file.sync_all().map_err(failed)?;
            let file = reopened(&file, settings.cache).map_err(failed)?;
            // It was written through the page cache, which has it already: this is for what it has given up since.
            let ends = || control.stopped() || Instant::now() >= deadlines.ready;
            prepare_cache(&file, settings.cache, &mut chunk, &ends).map_err(failed)?;
            Ok(SourceFile { file: Some(file), bytes: settings.file_bytes })
        })
        .collect()
}

/// Opens the files that are there already: one, or the regular ones of a folder, by name. They are only read.
pub fn existing(
    path: &str,
    settings: &FileSettings,
    control: &Control,
    deadlines: Deadlines,
) -> Result<Vec<SourceFile>, TrialError> {
    let failed = |path: &Path, source| TrialError::Files { what: format!("cannot read {}", path.display()), source };
    let given = Path::new(path);
    let mut paths = vec![given.to_owned()];
    if fs::metadata(given).map_err(|error| failed(given, error))?.is_dir() {
        let entries = fs::read_dir(given).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| failed(given, error))?;
        let regular = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        paths = regular.map(fs::DirEntry::path).collect::<Vec<PathBuf>>();
        paths = first_of(paths, settings.files, path)?;
    }
    if paths.is_empty() {
        return Err(TrialError::Settings(format!("{path} has no regular files, expected some to be sent")));
    }
    let mut chunk = Pages::new(MAKE_BYTES).map_err(TrialError::Buffers)?;
    paths
        .iter()
        .map(|path| {
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() >= deadlines.ready {
                return Err(failed(path, io::ErrorKind::TimedOut.into()));
            }
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | direct(settings.cache);
            let file = File::from(open(path, flags, Mode::empty()).map_err(|errno| failed(path, errno.into()))?);
            let about = file.metadata().map_err(|error| failed(path, error))?;
            if !about.is_file() {
                return Err(failed(path, io::Error::other("it is no regular file")));
            }
            let ends = || control.stopped() || Instant::now() >= deadlines.warm;
            prepare_cache(&file, settings.cache, &mut chunk, &ends).map_err(|error| failed(path, error))?;
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            Ok(SourceFile { file: Some(file), bytes: about.len() })
        })
        .collect()
}

/// The first of these files by name, as many as are wanted: all that a trial can have is all of them.
fn first_of(mut paths: Vec<PathBuf>, wanted: u32, folder: &str) -> Result<Vec<PathBuf>, TrialError> {
    if wanted == FILES_MAX && paths.len() > wanted as usize {
        let (found, most) = (paths.len(), FILES_MAX - 1);
        return Err(TrialError::Settings(format!(
            "{folder} has {found} regular files, and a trial sends {FILES_MAX} at most: name up to {most} with `files`"
        )));
    }
    paths.sort();
    paths.truncate(wanted as usize);
    Ok(paths)
}

/// Files whose bytes come from memory.
pub fn from_memory(settings: &FileSettings) -> Vec<SourceFile> {
    (0..settings.files).map(|_| SourceFile { file: None, bytes: settings.file_bytes }).collect()
}

/// Has the page cache drop what it can of a file, all of which the disk has.
pub fn forget(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// `ends`: whether there is no time left for it: then the page cache has a part of the file.
fn prepare_cache(file: &File, cache: Cache, chunk: &mut [u8], ends: &dyn Fn() -> bool) -> io::Result<()> {
    match cache {
        Cache::Dropped => forget(file),
        Cache::Warm => {
            let mut offset = 0;
            while !ends()
                && let count @ 1.. = file.read_at(chunk, offset)?
            {
                offset += count as u64;
            }
            Ok(())
        }
        Cache::Direct => Ok(()),
    }
}

/// The same file, opened for reading past the cache where that is requested.
fn reopened(file: &File, cache: Cache) -> io::Result<File> {
    if cache != Cache::Direct {
        return file.try_clone();
    }
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC | direct(cache), Mode::empty())?.into())
}

fn direct(cache: Cache) -> OFlags {
    if cache == Cache::Direct { OFlags::DIRECT } else { OFlags::empty() }
}

/// As many bytes as reads and writes past the cache take at once, at least so many.
pub fn whole_sectors(bytes: u64) -> u64 {
    bytes.next_multiple_of(DIRECT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::settings;

    #[test]
    fn more_files_than_a_trial_has_are_refused_and_the_first_of_them_can_be_named() {
        let folder = |count: u32| (0..count).rev().map(|name| PathBuf::from(format!("{name:06}"))).collect::<Vec<_>>();
        assert_eq!(first_of(folder(FILES_MAX), FILES_MAX, "/data").unwrap().len(), FILES_MAX as usize);
        let refused = first_of(folder(FILES_MAX + 1), FILES_MAX, "/data").unwrap_err().to_string();
        assert!(refused.contains("/data has 16385 regular files"), "{refused}");
        assert_eq!(first_of(folder(FILES_MAX + 1), 2, "/data").unwrap(), ["000000", "000001"].map(PathBuf::from));
    }

    #[test]
    fn files_that_take_too_long_to_warm_are_sent_with_what_the_cache_has() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), vec![7; 3 * MAKE_BYTES]).unwrap();
        }
        let settings = FileSettings { files: 9, cache: Cache::Warm, ..settings() };
        let now = Instant::now();
        let deadlines = Deadlines { ready: now + Duration::from_secs(60), warm: now };
        let files = existing(folder.path().to_str().unwrap(), &settings, &Control::default(), deadlines).unwrap();
        assert_eq!(files.iter().map(|file| file.bytes).collect::<Vec<_>>(), [3 * MAKE_BYTES as u64; 2]);
    }
}
