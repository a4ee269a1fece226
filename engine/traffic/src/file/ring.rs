//! The buffers between the two threads of a flow: as many as there are go round.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use sys::Pages;
use wire::BlockHeader;

use crate::defaults::{RING_BLOCKS, RING_BYTES};

/// A part of a file on its way from one thread to the other.
pub struct Block<'b> {
    /// The buffer, of which the first `header.length` bytes are the file's, where a trial has any.
    pub bytes: &'b mut [u8],
    /// Where it belongs.
    pub header: BlockHeader,
}

/// What one thread hands to the other.
pub enum Passed<'b> {
    /// A block.
    Block(Block<'b>),
    /// Nothing more comes. Where this is missing, the thread has failed.
    End,
}

/// The end of the thread that fills buffers.
pub struct Filling<'b> {
    /// Buffers that may be filled.
    pub empty: Receiver<&'b mut [u8]>,
    /// Those that are.
    pub full: SyncSender<Passed<'b>>,
}

/// The end of the thread that empties them.
pub struct Emptying<'b> {
    /// What it is to empty.
    pub full: Receiver<Passed<'b>>,
    /// What it has emptied.
    pub empty: SyncSender<&'b mut [u8]>,
}

/// How many blocks of a length a flow has.
pub fn blocks(length: usize) -> usize {
    let (least, most) = RING_BLOCKS;
    (RING_BYTES / length.max(1)).clamp(least, most)
}

/// Both ends, with all buffers empty.
pub fn ring(pages: &mut Pages, length: usize) -> (Filling<'_>, Emptying<'_>) {
    let count = pages.len() / length.max(1);
    let (returned, empty) = sync_channel(count);
    // One more than there are buffers: that nothing more comes must not wait.
    let (full, filled) = sync_channel(count + 1);
    for buffer in pages.chunks_exact_mut(length) {
        // There is room for all of them, and both ends are here.
        let _ = returned.send(buffer);
    }
    (Filling { empty, full }, Emptying { full: filled, empty: returned })
}
