//! The folder that all engines of a standing point share. Whoever changes it holds the lock of one file; who has a turn, or
//! waits for one, holds the lock of a file of its own for as long: the kernel frees both, however a process ends.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::defaults::{LOCK_CHECK, LOCK_TIMEOUT, STATE_FILES_MAX};

/// For engines of several accounts whose group has the folder.
const MODE: u32 = 0o660;

/// The folder.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// The right to change what is in the folder, until it is dropped.
pub struct Locked<'a> {
    folder: &'a Folder,
    _lock: File,
}

/// A file whose lock this process holds.
pub struct Owned {
    path: PathBuf,
    file: File,
}

/// A file in the folder that another process may hold.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Whether a process holds it.
    pub held: bool,
    /// What it says.
    pub text: Vec<u8>,
}

impl Folder {
    /// A folder that is there.
    ///
    /// # Errors
    /// It is not, or everybody may write to it.
    pub fn open(path: &Path) -> Result<Self, String> {
        let named = |error: &dyn std::fmt::Display| format!("the folder {} of `state`: {error}", path.display());
        let known = fs::metadata(path).map_err(|error| named(&error))?;
        if !known.is_dir() {
            return Err(named(&"found something other than a folder"));
        }
        if known.mode() & 0o002 != 0 {
            return Err(named(&"everybody may write to it, expected this account or its group (chmod o-w)"));
        }
        Ok(Self(path.into()))
    }

    /// Waits for the right to change it.
    ///
    /// # Errors
    /// Another process holds it for too long, or it cannot be written.
    pub fn lock(&self) -> Result<Locked<'_>, String> {
        self.lock_as(
            OpenOptions::new().read(true).write(true).create(true).mode(MODE),
            FlockOperation::NonBlockingLockExclusive,
        )
    }

    /// Waits until nobody changes it. Takes no right to write; nothing if nobody ever changed it.
    ///
    /// # Errors
    /// Another process changes it for too long, or it cannot be read.
    pub fn lock_to_read(&self) -> Result<Option<Locked<'_>>, String> {
        if !self.0.join("lock").exists() {
            return Ok(None);
        }
        self.lock_as(OpenOptions::new().read(true), FlockOperation::NonBlockingLockShared).map(Some)
    }

    fn lock_as(&self, how: &mut OpenOptions, operation: FlockOperation) -> Result<Locked<'_>, String> {
        let file = open(how, &self.0.join("lock"))?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match flock(&file, operation) {
                Ok(()) => return Ok(Locked { folder: self, _lock: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if Instant::now() < deadline => {
                    thread::sleep(LOCK_CHECK);
                }
                Err(error) => return Err(self.named("lock", &error)),
            }
        }
    }

    fn named(&self, name: &str, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.0.join(name).display())
    }
}

impl Locked<'_> {
    /// Makes a file that this process holds for as long as it lasts.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn own(&self, name: &str, text: &[u8]) -> Result<Owned, String> {
        let path = self.folder.0.join(name);
        let file = open(OpenOptions::new().read(true).write(true).create_new(true).mode(MODE), &path)?;
        let mut owned = Owned { path, file };
        let held = flock(&owned.file, FlockOperation::NonBlockingLockExclusive);
        held.map_err(io::Error::from)
            .and_then(|()| owned.file.write_all(text))
            .map_err(|error| self.folder.named(name, &error))?;
        Ok(owned)
    }

    /// Files whose names begin so, by name.
    ///
    /// # Errors
    /// One of them is none of an engine's, or there are too many.
    pub fn files(&self, prefix: &str, bytes_max: u64) -> Result<Vec<Found>, String> {
        let mut found = Vec::new();
        let entries = fs::read_dir(&self.folder.0).map_err(|error| self.folder.named("", &error))?;
        for (number, entry) in entries.enumerate() {
            if number >= STATE_FILES_MAX {
                return Err(self
                    .folder
                    .named("", &format!("found more than {STATE_FILES_MAX} files: remove what is no engine's")));
            }
            let entry = entry.map_err(|error| self.folder.named("", &error))?;
            let Some(name) = entry.file_name().to_str().filter(|name| name.starts_with(prefix)).map(str::to_owned)
            else {
                continue;
            };
            let file = match open(OpenOptions::new().read(true), &entry.path()) {
                Err(_) if !entry.path().exists() && !entry.path().is_symlink() => continue,
                other => other?,
            };
            let held = flock(&file, FlockOperation::NonBlockingLockShared).is_err();
            let mut text = Vec::new();
            file.take(bytes_max).read_to_end(&mut text).map_err(|error| self.folder.named(&name, &error))?;
            found.push(Found { name, held, text });
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    /// Removes a file that nobody holds.
    pub fn remove(&self, name: &str) {
        // If it stays, it is found again, and nobody holds it then either.
        let _ = fs::remove_file(self.folder.0.join(name));
    }

    /// What a file says; nothing if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is larger than `bytes_max`.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
        let path = self.folder.0.join(name);
        if !path.exists() && !path.is_symlink() {
            return Ok(Vec::new());
        }
        let file = open(OpenOptions::new().read(true), &path)?;
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| self.folder.named(name, &error))?;
        if bytes.len() as u64 > bytes_max {
            return Err(self.folder.named(name, &format!("found more than {bytes_max} B")));
        }
        Ok(bytes)
    }

    /// Puts something else in a file's place: all of it, or nothing.
    ///
    /// # Errors
    /// It cannot be written; the file is as it was.
    pub fn replace(&self, name: &str, text: &[u8]) -> Result<(), String> {
        let (path, beside) = (self.folder.0.join(name), self.folder.0.join(format!("new-{name}")));
        // Of a process that was killed here.
        let _ = fs::remove_file(&beside);
        let mut file = open(OpenOptions::new().write(true).create_new(true).mode(MODE), &beside)?;
        let written = file.write_all(text).and_then(|()| file.sync_data()).and_then(|()| fs::rename(&beside, &path));
        written.map_err(|error| self.folder.named(name, &error))
    }

    /// Adds a line to a file, after its last whole line: half of one is of a process that began nothing with it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&self, name: &str, whole_bytes: u64, line: &str) -> Result<(), String> {
        let path = self.folder.0.join(name);
        let mut file = open(OpenOptions::new().read(true).append(true).create(true).mode(MODE), &path)?;
        let written = file.set_len(whole_bytes).and_then(|()| file.write_all(line.as_bytes()));
        written.map_err(|error| self.folder.named(name, &error))
    }
}

impl Owned {
    /// Says something else.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, _: &Locked<'_>, text: &[u8]) -> Result<(), String> {
        use std::os::unix::fs::FileExt;
        let written = self.file.set_len(0).and_then(|()| self.file.write_all_at(text, 0));
        written.map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // Its lock goes with it: if the file stays, nobody holds it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Follows no link, waits for no pipe, and takes nothing but a file.
fn open(how: &mut OpenOptions, path: &Path) -> Result<File, String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = how.custom_flags(flags).open(path).map_err(|error| named(&error))?;
    if file.metadata().is_ok_and(|known| known.is_file()) {
        Ok(file)
    } else {
        Err(named(&"found something other than a file: no engine made it, remove it"))
    }
}
