//! The two threads of a flow that sends: one reads files, the other sends what was read.

use std::{
    fs::File,
    io::{self, Read},
    mem::MaybeUninit,
    net::Shutdown,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread,
    time::Instant,
};

use rustix::net::RecvFlags;
use socket2::SockRef;
use sys::{Pages, PagesPart};
use wire::{BlockHeader, BlockKind, Content, CpuTime, FileSettings, FlowEnd, Part, Verify};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    counters::{Counters, add, timed},
    cpu::{StorageCpu, sum},
    credit::Credit,
    detached::Detached,
    folder::{SourceFile, whole_sectors},
    reading::{ReadFile, cannot_read, fetch},
    ring::{Block, Emptying, Filling, Passed, blocks, ring},
    sending::{passes, send_file, write_all},
};
use crate::{
    defaults::{EXTENT_BYTES, WORD_CHECK},
    flow::cpu_since,
    tcp::{TcpFlow, TcpFlows},
};

/// What all flows of a source send.
pub struct Source {
    files: Vec<SourceFile>,
    next: Mutex<Place>,
    settings: FileSettings,
    read_file: ReadFile,
}

/// Where the next extent begins.
#[derive(Clone, Copy, Default)]
struct Place {
    file: usize,
    offset: u64,
}

/// What one flow reads in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    file: usize,
    offset: u64,
    end: u64,
}

impl Source {
    /// These files.
    pub fn new(files: Vec<SourceFile>, settings: FileSettings, read_file: ReadFile) -> Self {
        Self { files, next: Mutex::default(), settings, read_file }
    }

    /// Bytes of all files.
    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Whether files are read.
    fn reads(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Read)
    }

    /// Whether bytes of files are sent.
    fn sends(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Network)
    }

    /// What a flow is to read next; flows that are faster get more.
    fn next_extent(&self) -> Option<Extent> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Place { file, offset } = *next;
        let bytes = self.files.get(file)?.bytes;
        let end = bytes.min(offset.saturating_add(EXTENT_BYTES.max(self.settings.tcp.length_bytes.into())));
        *next = if end == bytes { Place { file: file + 1, offset: 0 } } else { Place { file, offset: end } };
        Some(Extent { file, offset, end })
    }

    /// Carries one flow to its end.
    pub fn send(self: &Arc<Self>, flow: &TcpFlow, flows: &TcpFlows, counters: &Arc<Counters>) {
        let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
        let mut storage = CpuTime::default();
        let sent = self.send_files(flow, flows, counters, &mut storage);
        let cpu = sum(cpu_since(cpu, began), storage);
        flows.end_as(flow, sent.and_then(|()| drain(flow, flows, self.held_back())), cpu);
    }

    /// Whether the sink says how far this end may be ahead: nothing else holds it back.
    fn held_back(&self) -> bool {
        self.settings.part == Part::Write
    }

    fn send_files(
        self: &Arc<Self>,
        flow: &TcpFlow,
        flows: &TcpFlows,
        counters: &Arc<Counters>,
        storage: &mut CpuTime,
    ) -> io::Result<()> {
        let length = self.settings.tcp.length_bytes as usize;
        let mut pages = Pages::new(blocks(length) * length)?;
        if self.settings.content == Content::Random && !self.reads() {
            fastrand::fill(&mut pages);
        }
        let (filling, emptying) = ring(pages, length);
        let (own, own_counters, stop) = (self.clone(), counters.clone(), flows.stop_of_sending());
        // Its end of the ring is gone when it ends, and the sender learns of it.
        let read_all = move |_: &_| own.read_all(&own_counters, &filling, || stop.load(Ordering::Relaxed));
        let thread = Detached::begin(format!("files-{}", flow.index), read_all)?;
        let sent = self.send_all(flow, flows, counters, &emptying);
        // So the reader learns of it, whatever happened.
        drop(emptying);
        // Where the trial's time is over the disk may take all the time it likes.
        let read = thread.wait(|| flows.aborted().is_none())?;
        let (read, cpu) = read.ok_or_else(|| io::Error::other("what was to be sent could not be read in time"))?;
        *storage = cpu;
        // A reader that fails is why nothing more could be sent.
        read.and(sent)
    }

    /// Reads extent after extent, until all are read or sending is `stopped`.
    fn read_all(
        &self,
        counters: &Counters,
        filling: &Filling,
        stopped: impl Fn() -> bool,
    ) -> (io::Result<()>, CpuTime) {
        let cpu = StorageCpu::begin(&counters.storage_cpu_us);
        let read = || {
            while let Some(extent) = self.next_extent() {
                let mut offset = extent.offset;
                loop {
                    if stopped() {
                        return Ok(());
                    }
                    // A sender that has ended has no more buffers.
                    let buffer = timed(&counters.waits_for_network_ns, || filling.buffer(|| true));
                    let Some(buffer) = buffer else { return Ok(()) };
                    let block = self.read_block(counters, buffer, Extent { offset, ..extent })?;
                    offset += block.header.length;
                    cpu.tell();
                    if filling.full.send(Passed::Block(block)).is_err() {
                        return Ok(());
                    }
                    if offset >= extent.end {
                        break;
                    }
                }
            }
            Ok(())
        };
        let read = read();
        if read.is_ok() {
            // A sender that has ended knows.
            let _ = filling.full.send(Passed::End);
        }
        (read, cpu.end())
    }

    fn read_block(&self, counters: &Counters, mut buffer: PagesPart, left: Extent) -> io::Result<Block> {
        let Extent { file, offset, end } = left;
        let source = &self.files[file];
        let length = usize::try_from(end - offset).unwrap_or(usize::MAX).min(buffer.len());
        if let Some(handle) = source.file.as_ref().filter(|_| self.reads()) {
            // Past the cache only whole sectors can be read, also where the file ends in one.
            let whole = usize::try_from(whole_sectors(length as u64)).unwrap_or(length).min(buffer.len());
            let part = if self.direct() { &mut buffer[..whole] } else { &mut buffer[..length] };
            let got = timed(&counters.storage_call_ns, || {
                let take = if self.settings.sendfile && !self.compares() { fetch } else { self.read_file };
                take(handle, part, offset, length)
            });
            got.map_err(|error| cannot_read(file, offset, &error))?;
            add(&counters.storage_bytes, length as u64);
        }
        let header = BlockHeader {
            kind: BlockKind::Data,
            file: u32::try_from(file).unwrap_or(u32::MAX),
            file_bytes: source.bytes,
            offset,
            length: length as u64,
            digest: if self.compares() { xxh3_64(&buffer[..length]) } else { 0 },
        };
        Ok(Block { bytes: buffer, header })
    }

    /// Whether bytes of files are looked at on their way.
    fn compares(&self) -> bool {
        self.settings.verify != Verify::None && self.settings.part == Part::Whole
    }

    /// The file that the kernel is to send a block of, if it is.
    fn sent_by_kernel(&self, header: &BlockHeader) -> Option<&File> {
        let asked = self.settings.sendfile && self.settings.part == Part::Whole && header.length > 0;
        self.files.get(header.file as usize)?.file.as_ref().filter(|_| asked)
    }

    fn direct(&self) -> bool {
        self.settings.cache == wire::Cache::Direct
    }

    /// Sends what was read, between what all of it is and that it is all.
    fn send_all(&self, flow: &TcpFlow, flows: &TcpFlows, counters: &Counters, emptying: &Emptying) -> io::Result<()> {
        let nothing = BlockHeader { kind: BlockKind::End, file: 0, file_bytes: 0, offset: 0, length: 0, digest: 0 };
        let files = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let job = BlockHeader { kind: BlockKind::Job, file: files, file_bytes: self.bytes(), ..nothing };
        let connection = &flow.connection;
        let buffers = blocks(self.settings.tcp.length_bytes as usize);
        let mut credit = self.held_back().then(|| Credit::new(buffers, connection)).transpose()?;
        timed(&counters.network_call_ns, || write_all(connection, flows, job.encode(), &[], |_| {}))?;
        loop {
            let waits = &counters.waits_for_storage_ns;
            let mut passed = timed(waits, || emptying.passed(|| flows.aborted().is_none()));
            if let (Some(credit), Some(Passed::Block(_))) = (&mut credit, &passed)
                && !timed(&counters.network_call_ns, || credit.take(connection, flows))?
            {
                passed = Some(Passed::End);
            }
            match passed {
                Some(Passed::Block(Block { bytes, header })) => {
                    let length = usize::try_from(header.length).unwrap_or(usize::MAX).min(bytes.len());
                    let payload = if self.sends() { &bytes[..length] } else { &[] };
                    let passed = |count| {
                        add(&counters.network_bytes, count as u64);
                        flow.passed(count, flows.origin());
                    };
                    timed(&counters.network_call_ns, || match self.sent_by_kernel(&header) {
                        Some(file) => send_file(connection, flows, header, file, passed),
                        None => write_all(connection, flows, header.encode(), payload, passed),
                    })?;
                    if payload.is_empty() && length > 0 {
                        flow.passed(length, flows.origin());
                    }
                    // A reader that has ended needs no buffer.
                    let _ = emptying.empty.send(bytes);
                }
                Some(Passed::End) => {
                    return timed(&counters.network_call_ns, || {
                        write_all(connection, flows, nothing.encode(), &[], |_| {})
                    });
                }
                None => return Err(io::Error::other("the thread that reads files has ended")),
            }
        }
    }
}

/// The sink closes once it has written everything, to the disk if that is requested. Its word that it runs is the
/// coordinator's to read, unless the sink has `held_back` this end: then all it says is for this thread.
fn drain(flow: &TcpFlow, flows: &TcpFlows, held_back: bool) -> io::Result<FlowEnd> {
    if let Err(error) = flow.connection.shutdown(Shutdown::Write) {
        return Err(flow.connection.take_error()?.unwrap_or(error));
    }
    loop {
        let mut word = [MaybeUninit::uninit()];
        match SockRef::from(&flow.connection).recv_with_flags(&mut word, RecvFlags::PEEK.bits().cast_signed()) {
            Ok(0) => return Ok(flows.aborted().unwrap_or(FlowEnd::Drained)),
            Ok(_) if held_back || flows.aborted().is_some() => {
                // Nobody else reads any more.
                _ = (&flow.connection).read(&mut [0; 64])?;
            }
            Ok(_) => thread::sleep(WORD_CHECK),
            Err(error) if passes(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{reading::read_at_least, tests::settings};

    #[test]
    fn extents_cover_every_file_once_and_an_empty_file_has_one() {
        let sizes = [0, 1, EXTENT_BYTES, EXTENT_BYTES + 1];
        let files = sizes.iter().map(|&bytes| SourceFile { file: None, bytes }).collect();
        let source = Source::new(files, settings(), read_at_least);
        let extents: Vec<_> = std::iter::from_fn(|| source.next_extent()).collect();
        let lengths = |file| {
            let own = extents.iter().filter(move |extent| extent.file == file);
            own.map(|extent| extent.end - extent.offset).collect::<Vec<_>>()
        };
        assert_eq!(lengths(0), [0]);
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(2), [EXTENT_BYTES]);
        assert_eq!(lengths(3), [EXTENT_BYTES, 1]);
        assert_eq!(extents.len(), 5);
    }

    #[test]
    fn all_parts_are_divided_as_the_whole_way_is() {
        for part in [Part::Read, Part::Network, Part::Write] {
            let files = vec![SourceFile { file: None, bytes: 3 * EXTENT_BYTES }];
            let source = Source::new(files, FileSettings { part, ..settings() }, read_at_least);
            let extents: Vec<_> = std::iter::from_fn(|| source.next_extent()).collect();
            assert!(extents.iter().all(|extent| extent.end - extent.offset == EXTENT_BYTES), "{part:?}: {extents:?}");
        }
    }
}
