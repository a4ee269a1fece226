//! The buffers between the two threads of a flow: as many as there are go round.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use sys::{Pages, PagesPart};
use wire::BlockHeader;

use crate::defaults::{RING_BLOCKS, RING_BYTES, STOP_CHECK};

/// A part of a file on its way from one thread to the other.
pub struct Block {
    /// The buffer, of which the first `header.length` bytes are the file's, where a trial has any.
    pub bytes: PagesPart,
    /// Where it belongs.
    pub header: BlockHeader,
}

/// What one thread hands to the other.
pub enum Passed {
    /// A block.
    Block(Block),
    /// Nothing more comes. Where this is missing, the thread has failed.
    End,
}

/// The end of the thread that fills buffers.
pub struct Filling {
    empty: Receiver<PagesPart>,
    /// Those that are filled.
    pub full: SyncSender<Passed>,
}

impl Filling {
    /// A buffer that may be filled; none once the other thread has ended, or waiting for it no longer `goes_on`.
    pub fn buffer(&self, goes_on: impl Fn() -> bool) -> Option<PagesPart> {
        next(&self.empty, goes_on)
    }
}

/// The end of the thread that empties them.
pub struct Emptying {
    full: Receiver<Passed>,
    /// What it has emptied.
    pub empty: SyncSender<PagesPart>,
}

impl Emptying {
    /// What is to be emptied next; none once the other thread has failed, or waiting for it no longer `goes_on`.
    pub fn passed(&self, goes_on: impl Fn() -> bool) -> Option<Passed> {
        next(&self.full, goes_on)
    }
}

/// How many blocks of a length a flow has.
pub fn blocks(length: usize) -> usize {
    let (least, most) = RING_BLOCKS;
    (RING_BYTES / length.max(1)).clamp(least, most)
}

/// Both ends, with all buffers empty.
pub fn ring(pages: Pages, length: usize) -> (Filling, Emptying) {
    let buffers = pages.into_parts(length);
    let (returned, empty) = sync_channel(buffers.len());
    // One more than there are buffers: that nothing more comes must not wait.
    let (full, filled) = sync_channel(buffers.len() + 1);
    for buffer in buffers {
        // There is room for all of them, and both ends are here.
        let _ = returned.send(buffer);
    }
    (Filling { empty, full }, Emptying { full: filled, empty: returned })
}

fn next<T>(channel: &Receiver<T>, goes_on: impl Fn() -> bool) -> Option<T> {
    loop {
        match channel.recv_timeout(STOP_CHECK) {
            Ok(passed) => return Some(passed),
            Err(RecvTimeoutError::Timeout) if goes_on() => {}
            Err(_) => return None,
        }
    }
}
