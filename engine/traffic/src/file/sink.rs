//! The two threads of a flow that receives: one takes blocks from the network, the other writes them to files.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::fs::FileExt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sys::Pages;
use wire::{
    BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Cache, Content, CpuTime, FileSettings, FlowEnd, Part, RUNNING, Sync,
    Verify,
};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    announced::Announced,
    counters::{Counters, add, timed},
    cpu::{StorageCpu, sum},
    folder::{Folder, forget, whole_sectors},
    reading::read_at_least,
    ring::{Block, Emptying, Filling, Passed, blocks, ring},
    source::joined,
};
use crate::{
    TrialError,
    defaults::{FLOW_STACK_BYTES, WRITEBACK_BYTES},
    flow::cpu_since,
    tcp::{TcpFlow, TcpFlows},
};

/// What all flows of a sink write.
pub struct Sink {
    folder: Arc<Folder>,
    settings: FileSettings,
    files: Mutex<Files>,
    /// Flows that have not come to the end of what they receive.
    receiving: AtomicUsize,
    /// What was written where, and its digest, where that is to be compared.
    written: Mutex<Vec<Written>>,
}

#[derive(Default)]
struct Files {
    /// What comes, once a flow has said so.
    announced: Option<Announced>,
    open: Vec<Option<Arc<SinkFile>>>,
}

/// A file that comes.
struct SinkFile {
    file: File,
    bytes: u64,
    /// Bytes that are not written.
    missing: AtomicU64,
}

struct Written {
    file: u32,
    offset: u64,
    length: u64,
    digest: u64,
}

impl Sink {
    /// Writes below this folder.
    pub fn new(folder: Arc<Folder>, settings: FileSettings) -> Self {
        let receiving = AtomicUsize::new(settings.tcp.flows as usize);
        Self { folder, settings, files: Mutex::default(), receiving, written: Mutex::default() }
    }

    fn writes(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Write)
    }

    fn receives(&self) -> bool {
        matches!(self.settings.part, Part::Whole | Part::Network)
    }

    /// Carries one flow to its end, which is when what it wrote is on the disk, where that is requested.
    pub fn receive(&self, flow: &TcpFlow, flows: &TcpFlows, counters: &Counters) {
        let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
        let mut storage = CpuTime::default();
        let ended = self.receive_files(flow, flows, counters, &mut storage);
        let cpu = sum(cpu_since(cpu, began), storage);
        // Fails only where the connection is gone already.
        let _ = flow.connection.shutdown(Shutdown::Write);
        flows.end_as(flow, ended.map(|()| flows.aborted().unwrap_or(FlowEnd::Drained)), cpu);
    }

    fn receive_files(
        &self,
        flow: &TcpFlow,
        flows: &TcpFlows,
        counters: &Counters,
        storage: &mut CpuTime,
    ) -> io::Result<()> {
        let length = self.settings.tcp.length_bytes as usize;
        let mut pages = Pages::new(blocks(length) * length)?;
        if self.settings.content == Content::Random && !self.receives() {
            fastrand::fill(&mut pages);
        }
        let (filling, emptying) = ring(&mut pages, length);
        let (written, received) = thread::scope(|scope| {
            let body = move || self.write_all(flow, flows, counters, emptying);
            let thread = thread::Builder::new().name(format!("files-{}", flow.index)).stack_size(FLOW_STACK_BYTES);
            let writer = thread.spawn_scoped(scope, body)?;
            let received = self.receive_all(flow, flows, counters, filling);
            io::Result::Ok((joined(writer), received))
        })?;
        let (written, cpu) = written?;
        *storage = cpu;
        // A writer that fails is why nothing more was received.
        written.and(received)
    }

    /// Takes blocks from the network until the source says that there are no more.
    fn receive_all(
        &self,
        flow: &TcpFlow,
        flows: &TcpFlows,
        counters: &Counters,
        filling: Filling<'_>,
    ) -> io::Result<()> {
        // Both are gone when this ends: so the writer learns of it, whatever happened.
        let Filling { empty, full } = filling;
        let connection = &flow.connection;
        loop {
            let mut header = [0; BLOCK_HEADER_BYTES];
            timed(&counters.network_call_ns, || read_exact(connection, &mut header, |_| {}))?;
            let header = BlockHeader::decode(&header).map_err(io::Error::other)?;
            match header.kind {
                BlockKind::Job => {
                    self.begin(header.file, header.file_bytes)?;
                    // The source counts the duration from here. Where this fails, the next read says why.
                    let _ = (&mut &*connection).write(&[RUNNING]);
                }
                BlockKind::Data => {
                    self.expect(&header)?;
                    let Ok(buffer) = timed(&counters.waits_for_storage_ns, || empty.recv()) else {
                        return Ok(());
                    };
                    let length = usize::try_from(header.length).ok().filter(|&length| length <= buffer.len());
                    let length = length.ok_or_else(|| io::Error::other("a block is longer than agreed"))?;
                    if self.receives() {
                        timed(&counters.network_call_ns, || {
                            read_exact(connection, &mut buffer[..length], |count| {
                                add(&counters.network_bytes, count as u64);
                            })
                        })?;
                    }
                    if full.send(Passed::Block(Block { bytes: buffer, header })).is_err() {
                        return Ok(());
                    }
                }
                BlockKind::End => {
                    // A writer that has ended has said why.
                    let _ = full.send(Passed::End);
                    return Ok(());
                }
            }
            flow.meter.report_if_requested(|| flows.now_ns());
        }
    }

    /// What comes in all, as each flow says it: the same.
    fn begin(&self, files: u32, bytes: u64) -> io::Result<()> {
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(announced) = &all.announced {
            return announced.again(files, bytes).map_err(io::Error::other);
        }
        let announced = Announced::new(files, bytes, &self.settings).map_err(io::Error::other)?;
        if self.writes() {
            self.folder.check_space(bytes).map_err(io::Error::other)?;
        }
        all.announced = Some(announced);
        all.open.resize_with(files as usize, || None);
        Ok(())
    }

    /// A block comes, of what was announced before.
    fn expect(&self, block: &BlockHeader) -> io::Result<()> {
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let announced = all.announced.as_mut().ok_or_else(|| io::Error::other("the source announced no files"))?;
        announced.take(block.file, block.length).map_err(io::Error::other)
    }

    /// Writes what the other thread received; what it wrote is on the disk when this ends, where that is requested.
    fn write_all(
        &self,
        flow: &TcpFlow,
        flows: &TcpFlows,
        counters: &Counters,
        emptying: Emptying<'_>,
    ) -> (io::Result<()>, CpuTime) {
        let Emptying { full, empty } = emptying;
        let cpu = StorageCpu::begin(&counters.storage_cpu_us);
        let write = || {
            loop {
                match timed(&counters.waits_for_network_ns, || full.recv()) {
                    Ok(Passed::Block(block)) => {
                        let length = usize::try_from(block.header.length).unwrap_or(0);
                        self.write_block(counters, block.header, block.bytes)?;
                        flow.count(length, flows.origin());
                        cpu.tell();
                        // A receiver that has ended needs no buffer.
                        let _ = empty.send(block.bytes);
                    }
                    Ok(Passed::End) => return self.finish(counters),
                    // The receiver says why.
                    Err(_) => return Ok(()),
                }
            }
        };
        let written = write();
        (written, cpu.end())
    }

    fn write_block(&self, counters: &Counters, header: BlockHeader, bytes: &mut [u8]) -> io::Result<()> {
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
        if self.settings.verify == Verify::Stored && self.compares() {
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
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let Files { announced: Some(announced), open } = &mut *all else {
            return Err(io::Error::other("the source announced no files"));
        };
        let place = open.get_mut(file as usize);
        let place = place.ok_or_else(|| io::Error::other(format!("file {file} was not announced")))?;
        if let Some(known) = place {
            if bytes == 0 {
                return Err(io::Error::other(format!("file {file} came more than once")));
            }
            let same = Some(known.clone()).filter(|known| known.bytes == bytes);
            return same.ok_or_else(|| io::Error::other(format!("file {file} has two sizes")));
        }
        announced.open(file, bytes).map_err(io::Error::other)?;
        let made = self.folder.unnamed(self.settings.cache, self.settings.sync);
        let made = made.map_err(|error| io::Error::new(error.kind(), format!("cannot make file {file}: {error}")))?;
        Ok(place.insert(Arc::new(SinkFile { file: made, bytes, missing: AtomicU64::new(bytes) })).clone())
    }

    /// A file is whole.
    fn complete(&self, file: &SinkFile, counters: &Counters) -> io::Result<()> {
        if self.settings.cache == Cache::Direct && whole_sectors(file.bytes) != file.bytes {
            timed(&counters.storage_call_ns, || file.file.set_len(file.bytes))?;
        }
        if self.settings.sync == Sync::File {
            sync(file, file.bytes, counters)?;
        }
        add(&counters.files, 1);
        Ok(())
    }

    /// A flow has written all that it received. The last one brings files to the disk that are not whole, since the
    /// trial's time was over.
    fn finish(&self, counters: &Counters) -> io::Result<()> {
        if self.receiving.fetch_sub(1, Ordering::AcqRel) > 1 || self.settings.sync != Sync::File {
            return Ok(());
        }
        for file in self.opened() {
            let missing = file.missing.load(Ordering::Acquire);
            if missing > 0 {
                sync(&file, file.bytes - missing, counters)?;
            }
        }
        Ok(())
    }

    fn opened(&self) -> Vec<Arc<SinkFile>> {
        let all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        all.open.iter().flatten().cloned().collect()
    }

    /// Reads back what was written and compares it, once no flow runs any more: the first place that differs.
    pub fn verify_stored(&self, timeout: Duration) -> Option<TrialError> {
        if self.settings.verify != Verify::Stored {
            return None;
        }
        let until = Instant::now() + timeout;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.sort_unstable_by_key(|one| (one.file, one.offset));
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = match Pages::new(self.settings.tcp.length_bytes as usize) {
            Ok(buffer) => buffer,
            Err(error) => return Some(TrialError::Buffers(error)),
        };
        for file in files.open.iter().flatten() {
            // What is in the cache is not what is on the disk. A file that is not there yet stays in it.
            let _ = forget(&file.file);
        }
        for Written { file, offset, length, digest } in written.drain(..) {
            if Instant::now() >= until {
                let seconds = timeout.as_secs_f64();
                return Some(TrialError::NotReadBack(format!(
                    "what was written could not be read back within {seconds} s: give the sweep a longer `drain`"
                )));
            }
            let Some(known) = files.open.get(file as usize).and_then(Option::as_ref) else { continue };
            let content = usize::try_from(length).unwrap_or(0).min(buffer.len());
            let whole = if self.settings.cache == Cache::Direct { whole_sectors(length) } else { length };
            let part = usize::try_from(whole).unwrap_or(0).min(buffer.len());
            if let Err(source) = read_at_least(&known.file, &mut buffer[..part], offset, content) {
                let what = format!("cannot read back file {file} from byte {offset} on");
                return Some(TrialError::Files { what, source });
            }
            if xxh3_64(&buffer[..content]) != digest {
                let end = offset + length;
                return Some(TrialError::Corrupt(format!(
                    "file {file}, bytes {offset} to {end}: what the disk gives back is not what was written"
                )));
            }
        }
        None
    }
}

fn sync(file: &SinkFile, bytes: u64, counters: &Counters) -> io::Result<()> {
    timed(&counters.storage_call_ns, || timed(&counters.sync_call_ns, || file.file.sync_all()))?;
    add(&counters.synced_bytes, bytes);
    Ok(())
}

/// Fills `bytes`; `passed` counts them.
fn read_exact(mut connection: &TcpStream, bytes: &mut [u8], mut passed: impl FnMut(usize)) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match connection.read(&mut bytes[filled..]) {
            Ok(0) => {
                let what = "the source ended before it had sent all that it announced";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
            Ok(count) => {
                passed(count);
                filled += count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
