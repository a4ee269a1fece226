//! The two threads of a flow that receives: one takes blocks from the network, the other writes them to files.

use std::{
    io::{self, Read, Write},
    mem,
    net::{Shutdown, TcpStream},
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Instant,
};

use sys::{Pages, PagesPart};
use wire::{BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Content, CpuTime, FlowEnd, RUNNING};

use super::{
    counters::{Counters, add, add_since, timed},
    cpu::{StorageCpu, sum},
    credit::Grants,
    detached::{Detached, Left},
    ring::{Block, Emptying, Filling, Passed, blocks, ring},
    store::Store,
};
use crate::{
    flow::{Tally, cpu_since},
    tcp::{TcpFlow, TcpFlows},
};

/// When the source began with a flow's job, and the CPU time of the network's thread until then.
type Began = (Option<sys::ThreadCpu>, Instant);

/// Carries one flow to its end, which is when what it wrote is on the disk, where that is requested.
pub fn receive(store: &Arc<Store>, flow: &TcpFlow, flows: &TcpFlows, counters: &Arc<Counters>) {
    let (cpu, waits) = (sys::thread_cpu().ok(), Instant::now());
    let mut storage = CpuTime::default();
    let job = Arc::new(OnceLock::new());
    let ended = receive_files(store, flow, flows, counters, &job, &mut storage);
    // Before the source begins with its job, which may take seconds, the threads only wait.
    let (cpu, began) = job.get().copied().unwrap_or((cpu, waits));
    let cpu = sum(cpu_since(cpu, began), storage);
    // Fails only where the connection is gone already.
    let _ = flow.connection.shutdown(Shutdown::Write);
    flows.end_as(flow, ended.map(|()| flows.aborted().unwrap_or(FlowEnd::Drained)), cpu);
}

fn receive_files(
    store: &Arc<Store>,
    flow: &TcpFlow,
    flows: &TcpFlows,
    counters: &Arc<Counters>,
    job: &Arc<OnceLock<Began>>,
    storage: &mut CpuTime,
) -> io::Result<()> {
    let length = store.settings.tcp.length_bytes as usize;
    let mut pages = Pages::new(blocks(length) * length)?;
    if store.settings.content == Content::Random && !store.receives() {
        fastrand::fill(&mut pages);
    }
    let (filling, emptying) = ring(pages, length);
    let (store_too, counters_too, tally, origin) = (store.clone(), counters.clone(), flow.tally(), flows.origin());
    let writer = Writer { store: store_too, counters: counters_too, tally, origin, job: job.clone() };
    let thread = Detached::begin(format!("files-{}", flow.index), move |left| writer.write_all(&emptying, left))?;
    let grants = store.grants().then(|| Grants::new(blocks(length)));
    let received = Receiver { store, flow, flows, counters, job, filling, grants }.receive_all();
    // Where the trial's time is over the disk may take all the time it likes, and no longer counts.
    let written = thread.wait(|| flows.aborted().is_none())?;
    let late = || io::Error::other("what was received could not be written and synced in time");
    let (written, cpu) = written.ok_or_else(late)?;
    *storage = cpu;
    // A writer that fails is why nothing more was received.
    written.and(received)
}

/// What the thread of the network has.
struct Receiver<'a> {
    store: &'a Store,
    flow: &'a TcpFlow,
    flows: &'a TcpFlows,
    counters: &'a Counters,
    job: &'a OnceLock<Began>,
    /// Gone when this ends: so the writer learns of it, whatever happened.
    filling: Filling,
    /// How far the source may be ahead, where nothing else holds it back.
    grants: Option<Grants>,
}

impl Receiver<'_> {
    /// Takes blocks from the network until the source says that there are no more.
    fn receive_all(mut self) -> io::Result<()> {
        let connection = &self.flow.connection;
        if self.grants.is_some() {
            connection.set_nodelay(true)?;
        }
        loop {
            let mut header = [0; BLOCK_HEADER_BYTES];
            timed(&self.counters.network_call_ns, || read_exact(connection, &mut header, |_| {}))?;
            let header = BlockHeader::decode(&header).map_err(io::Error::other)?;
            match header.kind {
                BlockKind::Job => {
                    self.store.begin(header.file, header.file_bytes)?;
                    let _ = self.job.set((sys::thread_cpu().ok(), Instant::now()));
                    // The source counts the duration from here. Where this fails, the next read says why.
                    let _ = (&mut &*connection).write(&[RUNNING]);
                }
                BlockKind::Data => {
                    self.store.expect(&header)?;
                    let goes_on = || self.flows.aborted().is_none();
                    let waits = &self.counters.waits_for_storage_ns;
                    let Some(buffer) = timed(waits, || self.filling.buffer(goes_on)) else { return Ok(()) };
                    self.grant();
                    let block = self.receive_block(header, buffer)?;
                    if self.filling.full.send(Passed::Block(block)).is_err() {
                        return Ok(());
                    }
                }
                BlockKind::End => {
                    // A writer that has ended has said why.
                    let _ = self.filling.full.send(Passed::End);
                    return Ok(());
                }
            }
            self.flow.meter.report_if_requested(|| self.flows.now_ns());
        }
    }

    /// Lets the source send more, now that there is a buffer for one of its blocks.
    fn grant(&mut self) {
        let Some(grants) = &mut self.grants else { return };
        let waited_ns = self.counters.waits_for_network_ns.load(Ordering::Acquire);
        let more = grants.after_block(Instant::now(), waited_ns);
        // Where this fails, the next read says why.
        let _ = (&self.flow.connection).write(&[more]);
    }

    fn receive_block(&self, header: BlockHeader, mut buffer: PagesPart) -> io::Result<Block> {
        let length = usize::try_from(header.length).ok().filter(|&length| length <= buffer.len());
        let length = length.ok_or_else(|| io::Error::other("a block is longer than agreed"))?;
        if self.store.receives() {
            timed(&self.counters.network_call_ns, || {
                read_exact(&self.flow.connection, &mut buffer[..length], |count| {
                    add(&self.counters.network_bytes, count as u64);
                })
            })?;
        }
        Ok(Block { bytes: buffer, header })
    }
}

/// What the thread of the files has, all of it its own: it may be left behind.
struct Writer {
    store: Arc<Store>,
    counters: Arc<Counters>,
    tally: Arc<Tally>,
    origin: Instant,
    job: Arc<OnceLock<Began>>,
}

impl Writer {
    /// Writes what the other thread received; what it wrote is on the disk when this ends, where that is requested.
    fn write_all(&self, emptying: &Emptying, left: &Left) -> (io::Result<()>, CpuTime) {
        let counters = &*self.counters;
        let cpu = StorageCpu::begin(&counters.storage_cpu_us);
        let mut begun = false;
        let mut write = || {
            while !left.is_left() {
                let waits = Instant::now();
                let passed = emptying.passed(|| true);
                // Before the job there is nothing to wait for.
                let waits = self.job.get().map_or_else(Instant::now, |&(_, job)| job.max(waits));
                add_since(&counters.waits_for_network_ns, waits);
                match passed {
                    Some(Passed::Block(block)) => {
                        let length = usize::try_from(block.header.length).unwrap_or(0);
                        if !mem::replace(&mut begun, true) {
                            // The flow runs, also where the disk never has this block.
                            left.unless_left(|| self.tally.count(0, self.origin));
                        }
                        self.store.write_block(counters, block.header, &block.bytes)?;
                        left.unless_left(|| self.tally.count(length, self.origin));
                        cpu.tell();
                        // A receiver that has ended needs no buffer.
                        let _ = emptying.empty.send(block.bytes);
                    }
                    Some(Passed::End) => return self.store.finish(counters, left),
                    // The receiver says why.
                    None => return Ok(()),
                }
            }
            Ok(())
        };
        let written = write();
        (written, cpu.end())
    }
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
