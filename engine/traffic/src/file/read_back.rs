//! What a sink wrote, read back from the disk and compared, once no flow runs any more.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sys::Pages;
use wire::{Cache, Sync};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    detached::{Detached, Left},
    folder::{forget, whole_sectors},
    reading::read_at_least,
    store::{SinkFile, Store, Written},
};
use crate::{Control, TrialError};

/// Until when, and who may end it before.
pub struct Limits<'a> {
    /// The end of the drain.
    pub until: Instant,
    /// How long that is in all.
    pub drain: Duration,
    /// Of the trial.
    pub control: &'a Control,
}

/// Reads back what was written and compares it, where that is requested: the first place that differs. `tell` is called
/// again and again meanwhile.
pub fn read_back(store: &Arc<Store>, limits: &Limits<'_>, mut tell: impl FnMut()) -> Option<TrialError> {
    if !store.reads_back() {
        return None;
    }
    let own = store.clone();
    let thread = match Detached::begin("read-back".into(), move |left| compare(&own, left)) {
        Ok(thread) => thread,
        Err(error) => return Some(TrialError::Thread(error)),
    };
    let goes_on = || {
        tell();
        !limits.control.stopped() && Instant::now() < limits.until
    };
    match thread.wait(goes_on) {
        Ok(Some(found)) => found,
        Ok(None) if limits.control.stopped() => Some(TrialError::Stopped),
        Ok(None) => Some(TrialError::NotReadBack(format!(
            "what was written could not be read back within the {} s that the sink has to write, sync and read back: give \
             the sweep a longer `drain`",
            limits.drain.as_secs_f64()
        ))),
        Err(error) => Some(TrialError::NotReadBack(format!("what was written could not be read back: {error}"))),
    }
}

/// All of it, until the thread is left behind.
fn compare(store: &Store, left: &Left) -> Option<TrialError> {
    let files = store.opened();
    if let Err(error) = prepare(store, &files, left) {
        return Some(error);
    }
    let mut buffer = match Pages::new(store.settings.tcp.length_bytes as usize) {
        Ok(buffer) => buffer,
        Err(error) => return Some(TrialError::Buffers(error)),
    };
    let sectors = store.settings.cache == Cache::Direct;
    for block in store.take_written() {
        if left.is_left() {
            return None;
        }
        let Some(known) = files.get(block.file as usize).and_then(Option::as_ref) else { continue };
        let differs = compare_block(known, &block, &mut buffer, sectors);
        if differs.is_some() {
            return differs;
        }
    }
    None
}

/// Has the page cache drop all files: what is in it is not what is on the disk. It keeps what the disk does not have yet,
/// which files are full of that nothing has synced.
fn prepare(store: &Store, files: &[Option<Arc<SinkFile>>], left: &Left) -> Result<(), TrialError> {
    for (number, known) in files.iter().enumerate() {
        let Some(known) = known.as_ref().filter(|_| !left.is_left()) else { continue };
        if store.settings.sync == Sync::None {
            let what = format!("cannot have file {number} written to the disk, from which it is to be read back");
            store.sync_uncounted(known).map_err(|source| TrialError::Files { what, source })?;
        }
        // A file system in memory has nothing to drop.
        let _ = forget(&known.file);
    }
    Ok(())
}

fn compare_block(known: &SinkFile, block: &Written, buffer: &mut [u8], sectors: bool) -> Option<TrialError> {
    let &Written { file, offset, length, digest } = block;
    let content = usize::try_from(length).unwrap_or(0).min(buffer.len());
    let whole = if sectors { whole_sectors(length) } else { length };
    let part = usize::try_from(whole).unwrap_or(0).min(buffer.len());
    if let Err(source) = read_at_least(&known.file, &mut buffer[..part], offset, content) {
        let what = format!("cannot read back file {file} from byte {offset} on");
        return Some(TrialError::Files { what, source });
    }
    (xxh3_64(&buffer[..content]) != digest).then(|| {
        let end = offset + length;
        let what = "what the disk gives back is not what was written";
        TrialError::Corrupt(format!("file {file}, bytes {offset} to {end}: {what}"))
    })
}
