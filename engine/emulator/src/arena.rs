//! Memory for packets in flight: reads go straight into it, writes come straight out of it, nothing is copied or
//! cleared in between.

use crate::defaults::{CHUNK_BYTES, CHUNKS_READY, READ_BYTES};

/// Where a packet is, with its virtio header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    chunk: usize,
    start: usize,
    end: usize,
}

/// Chunks that are filled one after the other and used again when nothing in them is held.
#[derive(Debug)]
pub struct Arena {
    chunks: Vec<Chunk>,
    free: Vec<usize>,
    chunks_max: usize,
    current: usize,
    /// Bytes of the current chunk that are in use.
    filled: usize,
}

#[derive(Debug)]
struct Chunk {
    bytes: Box<[u8]>,
    /// Pieces whose bytes are in it.
    held: u32,
}

impl Arena {
    /// At least one chunk. The memory of the first is there: no packet waits until the kernel has found it.
    pub fn new(chunks_max: usize) -> Self {
        let mut chunks: Vec<_> = (0..chunks_max.clamp(1, CHUNKS_READY)).map(|_| Chunk::new()).collect();
        for chunk in &mut chunks {
            sys::touch(&mut chunk.bytes);
        }
        Self { free: (1..chunks.len()).rev().collect(), chunks, chunks_max, current: 0, filled: 0 }
    }

    /// Room for one read; none if all memory is held.
    pub fn room(&mut self) -> Option<&mut [u8]> {
        if self.chunks[self.current].held == 0 {
            self.filled = 0;
        }
        if self.filled + READ_BYTES > CHUNK_BYTES {
            self.current = self.next_chunk()?;
            self.filled = 0;
        }
        Some(&mut self.chunks[self.current].bytes[self.filled..self.filled + READ_BYTES])
    }

    /// The first `length` bytes of the room.
    pub fn buffer(&self, length: usize) -> Buffer {
        Buffer { chunk: self.current, start: self.filled, end: self.filled + length }
    }

    /// Keeps what was just read until each of its pieces is released.
    pub fn keep(&mut self, buffer: Buffer, pieces: u32) {
        if pieces > 0 {
            self.chunks[buffer.chunk].held += pieces;
            self.filled = buffer.end;
        }
    }

    pub fn bytes(&self, buffer: Buffer) -> &[u8] {
        &self.chunks[buffer.chunk].bytes[buffer.start..buffer.end]
    }

    /// Lets one piece go.
    pub fn release(&mut self, buffer: Buffer) {
        let chunk = &mut self.chunks[buffer.chunk];
        chunk.held -= 1;
        if chunk.held == 0 && buffer.chunk != self.current {
            self.free.push(buffer.chunk);
        }
    }

    fn next_chunk(&mut self) -> Option<usize> {
        if let Some(chunk) = self.free.pop() {
            return Some(chunk);
        }
        if self.chunks.len() == self.chunks_max {
            return None;
        }
        self.chunks.push(Chunk::new());
        Some(self.chunks.len() - 1)
    }
}

impl Chunk {
    fn new() -> Self {
        Self { bytes: vec![0; CHUNK_BYTES].into_boxed_slice(), held: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_and_what_is_released_is_used_again() {
        let mut arena = Arena::new(2);
        let mut kept = Vec::new();
        while let Some(room) = arena.room() {
            room[..READ_BYTES].fill(u8::try_from(kept.len()).unwrap());
            let buffer = arena.buffer(READ_BYTES);
            arena.keep(buffer, 2);
            kept.push(buffer);
        }
        assert_eq!(kept.len(), 2 * (CHUNK_BYTES / READ_BYTES));
        for (index, buffer) in kept.iter().enumerate() {
            assert!(arena.bytes(*buffer).iter().all(|byte| usize::from(*byte) == index));
        }
        let half = kept.len() / 2;
        for buffer in &kept[..half] {
            arena.release(*buffer);
        }
        assert!(arena.room().is_none());
        for buffer in &kept[..half] {
            arena.release(*buffer);
        }
        assert!(arena.room().is_some());
        assert_eq!(arena.chunks.len(), 2);
    }

    #[test]
    fn what_was_dropped_takes_no_room() {
        let mut arena = Arena::new(1);
        for _ in 0..1000 {
            assert!(arena.room().is_some());
            let buffer = arena.buffer(READ_BYTES);
            arena.keep(buffer, 0);
        }
    }
}
