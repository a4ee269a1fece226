//! What all flows of a sink write, and how: files without names in its folder. No connection.

use std::{
    fs::File,
    io, mem,
    os::unix::fs::FileExt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use wire::{BlockHeader, Cache, FileSettings, Part, Sync, Verify};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    announced::Announced,
    counters::{Counters, add, timed},
    detached::Left,
    folder::{Folder, whole_sectors},
};
use crate::defaults::WRITEBACK_BYTES;

/// Has the kernel write a file to the disk, and waits for that.
pub type SyncFile = fn(&File) -> io::Result<()>;

/// The files of a sink. Threads that were left behind may hold it longer than the trial does.
pub struct Store {
    folder: Arc<Folder>,
    /// Of the trial.
    pub settings: FileSettings,
    sync_file: SyncFile,
    /// What comes, once a flow has said so.
    announced: Mutex<Option<Announced>>,
    /// Held while a file is made, which may take long: by threads of files only.
    open: Mutex<Vec<Option<Arc<SinkFile>>>>,
    /// Flows that have not come to the end of what they receive.
    receiving: AtomicUsize,
    /// What was written where, and its digest, where that is to be compared.
    written: Mutex<Vec<Written>>,
}

/// A file that comes.
pub struct SinkFile {
    /// The file.
    pub file: File,
    bytes: u64,
    /// Bytes that are not written.
    missing: AtomicU64,
}

/// A block that was written.
pub struct Written {
    /// Of which file.
    pub file: u32,
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
    /// Of what was received.
    pub digest: u64,
}

impl Store {
    /// Writes below this folder.
    pub fn new(folder: Arc<Folder>, settings: FileSettings, sync_file: SyncFile) -> Self {
        let receiving = AtomicUsize::new(settings.tcp.flows as usize);
        Self {
            folder,
            settings,
            sync_file,
            announced: Mutex::default(),
            open: Mutex::default(),
            receiving,
            written: Mutex::default(),
        }
    }

    /// Whether files are written.
    fn writes(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Write)
    }

    /// Whether bytes of files come.
    pub fn receives(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Network)
    }

    /// Whether the source must not send faster than files are written: nothing else holds it back.
    pub fn grants(&self) -> bool {
        self.settings.part == Part::Write
    }

    /// Whether what was written is read back.
    pub fn reads_back(&self) -> bool {
        self.settings.verify == Verify::Stored && self.compares()
    }

    /// What comes in all, as each flow says it: the same.
    pub fn begin(&self, files: u32, bytes: u64) -> io::Result<()> {
        let mut known = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(announced) = &*known {
            return announced.again(files, bytes).map_err(io::Error::other);
        }
        let announced = Announced::new(files, bytes, &self.settings).map_err(io::Error::other)?;
        if self.writes() {
            self.folder.check_space(bytes).map_err(io::Error::other)?;
        }
        // Nobody holds it: no block is taken before it is known what comes.
        self.open.lock().unwrap_or_else(PoisonError::into_inner).resize_with(files as usize, || None);
        *known = Some(announced);
        Ok(())
    }

    /// A block comes, of what was announced before.
    pub fn expect(&self, block: &BlockHeader) -> io::Result<()> {
        let mut known = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let announced = known.as_mut().ok_or_else(nothing_announced)?;
        announced.take(block.file, block.length).map_err(io::Error::other)
    }

    /// Writes a block; the last one of a file has it synced, where that is requested.
    pub fn write_block(&self, counters: &Counters, header: BlockHeader, bytes: &[u8]) -> io::Result<()> {
        let BlockHeader { file, file_bytes, offset, length, digest, .. } = header;
        let content = &bytes[..usize::try_from(length).unwrap_or(0)];
        let end = offset.checked_add(length).filter(|&end| end <= file_bytes);
        let end = end.ok_or_else(|| io::Error::other(format!("file {file} is longer than was announced")))?;
        if length == 0 && file_bytes > 0 {
            return Err(io::Error::other(format!("file {file} came with an empty block, and is not empty")));
        }
        if self.compares() && xxh3_64(content) != digest {
            let what = format!("file {file}, bytes {offset} to {end}: what was received is not what was read");
            return Err(io::Error::other(what));
        }
        if !self.writes() {
            return Ok(());
        }
        let known = self.file(file, file_bytes)?;
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot write file {file} from byte {offset} on: {error}"))
        };
        // Past the cache only whole sectors can be written: what is too much is cut off when the file is whole.
        let whole = usize::try_from(whole_sectors(length)).unwrap_or(0).min(bytes.len());
        let part = if self.settings.cache == Cache::Direct { &bytes[..whole] } else { content };
        timed(&counters.storage_call_ns, || known.file.write_all_at(part, offset)).map_err(failed)?;
        add(&counters.storage_bytes, length);
        match self.settings.sync {
            // Of what disk and network can do at once, nothing is left for the end. Where the kernel cannot, that has it all.
            Sync::File if end / WRITEBACK_BYTES > offset / WRITEBACK_BYTES => {
                let whole = end / WRITEBACK_BYTES * WRITEBACK_BYTES;
                _ = timed(&counters.storage_call_ns, || {
                    sys::begin_writeback(&known.file, whole - WRITEBACK_BYTES, WRITEBACK_BYTES)
                });
            }
            Sync::Write => add(&counters.synced_bytes, length),
            Sync::File | Sync::None => {}
        }
        if self.reads_back() {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            written.push(Written { file, offset, length, digest });
        }
        let missing = known.missing.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(length));
        let before = missing.map_err(|_| io::Error::other(format!("file {file} came more than once")))?;
        if before == length { self.complete(&known, counters).map_err(failed) } else { Ok(()) }
    }

    fn compares(&self) -> bool {
        self.settings.verify != Verify::None && self.settings.part == Part::Whole
    }

    fn file(&self, file: u32, bytes: u64) -> io::Result<Arc<SinkFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let place = open.get_mut(file as usize);
        let place = place.ok_or_else(|| io::Error::other(format!("file {file} was not announced")))?;
        if let Some(known) = place {
            if bytes == 0 {
                return Err(io::Error::other(format!("file {file} came more than once")));
            }
            let same = Some(known.clone()).filter(|known| known.bytes == bytes);
            return same.ok_or_else(|| io::Error::other(format!("file {file} has two sizes")));
        }
        self.announce_open(file, bytes)?;
        let made = self.folder.unnamed(self.settings.cache, self.settings.sync);
        let made = made.map_err(|error| io::Error::new(error.kind(), format!("cannot make file {file}: {error}")))?;
        Ok(place.insert(Arc::new(SinkFile { file: made, bytes, missing: AtomicU64::new(bytes) })).clone())
    }

    fn announce_open(&self, file: u32, bytes: u64) -> io::Result<()> {
        let mut known = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_mut().ok_or_else(nothing_announced)?.open(file, bytes).map_err(io::Error::other)
    }

    /// A file is whole.
    fn complete(&self, file: &SinkFile, counters: &Counters) -> io::Result<()> {
        if self.settings.cache == Cache::Direct && whole_sectors(file.bytes) != file.bytes {
            timed(&counters.storage_call_ns, || file.file.set_len(file.bytes))?;
        }
        if self.settings.sync == Sync::File {
            self.sync(file, file.bytes, counters)?;
        }
        add(&counters.files, 1);
        Ok(())
    }

    /// A flow has written all that it received. The last one brings files to the disk that are not whole, since the
    /// trial's time was over.
    pub fn finish(&self, counters: &Counters, left: &Left) -> io::Result<()> {
        if self.receiving.fetch_sub(1, Ordering::AcqRel) > 1 || self.settings.sync != Sync::File {
            return Ok(());
        }
        let missing = |file: &SinkFile| file.missing.load(Ordering::Acquire);
        let partial: Vec<_> = self.opened().into_iter().flatten().filter(|file| missing(file) > 0).collect();
        for file in partial {
            if left.is_left() {
                break;
            }
            self.sync(&file, file.bytes - missing(&file), counters)?;
        }
        Ok(())
    }

    fn sync(&self, file: &SinkFile, bytes: u64, counters: &Counters) -> io::Result<()> {
        timed(&counters.storage_call_ns, || timed(&counters.sync_call_ns, || (self.sync_file)(&file.file)))?;
        add(&counters.synced_bytes, bytes);
        Ok(())
    }

    /// Has the kernel write a file to the disk, outside of the time that counts.
    pub fn sync_uncounted(&self, file: &SinkFile) -> io::Result<()> {
        (self.sync_file)(&file.file)
    }

    /// All files that were made, each at its number.
    pub fn opened(&self) -> Vec<Option<Arc<SinkFile>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was written, in the order of files and of places in them.
    pub fn take_written(&self) -> Vec<Written> {
        let mut written = mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        written.sort_unstable_by_key(|one| (one.file, one.offset));
        written
    }

    /// Lets go of all files: the kernel frees those that no thread left behind is just at.
    pub fn let_go(&self) {
        // Where the lock is held the kernel is making a file; whoever waits for that has the others, too.
        if let Ok(mut open) = self.open.try_lock() {
            open.clear();
        }
    }
}

fn nothing_announced() -> io::Error {
    io::Error::other("the source announced no files")
}
