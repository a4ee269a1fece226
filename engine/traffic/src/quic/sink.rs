//! The receiving thread of one flow.

use std::{cell::Cell, io, time::Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use quinn::{ConnectionError, RecvStream};
use tokio::sync::Notify;
use wire::{CpuTime, FlowEnd, RUNNING};

use super::connection::{DONE, QuicConnection, QuicFlow, QuicFlows};
use crate::flow::cpu_since;

/// Pieces of a stream that are read at once, each of a packet.
const CHUNKS_AT_ONCE: usize = 64;

/// Reads all streams to their ends, tells the source how much that was, and waits until it closes.
pub fn receive(flow: &QuicFlow, flows: &QuicFlows) {
    let Some(driver) = flow.connection.take_driver() else { return };
    let reader = Reader { flow, flows, begun: Cell::new(None), first: Notify::new() };
    let mut cpu = None;
    let ended = driver.runtime.block_on(async {
        let (mut word, mut control) = flow.connection.connection.accept_bi().await?;
        control.read_exact(&mut [0; 1]).await.map_err(io::Error::other)?;
        let running = async {
            reader.first.notified().await;
            word.write_all(&[RUNNING]).await.map_err(io::Error::from)
        };
        let (total, ()) = tokio::try_join!(reader.read_all(), running)?;
        cpu = Some(reader.spent());
        word.write_all(&total.to_be_bytes()).await?;
        word.finish().map_err(io::Error::other)?;
        // Either tells that the source has it: that it was acknowledged, or that the source has closed.
        tokio::select! {
            acknowledged = word.stopped() => acknowledged.map(drop).map_err(io::Error::other)?,
            closed = closed(&flow.connection) => closed?,
        }
        Ok(flows.aborted().unwrap_or(FlowEnd::Drained))
    });
    flows.end_as(flow, ended, cpu.unwrap_or_else(|| reader.spent()));
    driver.close(&flow.connection.connection, DONE, "done");
}

struct Reader<'a> {
    flow: &'a QuicFlow,
    flows: &'a QuicFlows,
    /// What the thread costs counts from the first byte: before it, the thread only waits.
    begun: Cell<Option<(Option<sys::ThreadCpu>, Instant)>>,
    first: Notify,
}

impl Reader<'_> {
    /// Reads each stream from when it is there: one that waits for others to be read must not be waited for.
    async fn read_all(&self) -> io::Result<u64> {
        let (mut total, mut number) = (0, 0);
        let expected = self.flow.connection.streams.len();
        let mut reading = FuturesUnordered::new();
        while number < expected || !reading.is_empty() {
            tokio::select! {
                stream = self.flow.connection.connection.accept_uni(), if number < expected => {
                    reading.push(self.read(number, stream?));
                    number += 1;
                }
                Some(count) = reading.next() => total += count?,
            }
        }
        Ok(total)
    }

    async fn read(&self, number: usize, mut stream: RecvStream) -> io::Result<u64> {
        let mut total = 0;
        let mut chunks = [const { Bytes::new() }; CHUNKS_AT_ONCE];
        while let Some(filled) = stream.read_chunks(&mut chunks).await.map_err(io::Error::other)? {
            let count = chunks[..filled].iter().map(Bytes::len).sum();
            self.flow.connection.count(number, count);
            self.flow.passed(count, self.flows.origin());
            total += count as u64;
            if self.begun.get().is_none() {
                self.begun.set(Some((sys::thread_cpu().ok(), Instant::now())));
                self.first.notify_one();
            }
        }
        Ok(total)
    }

    fn spent(&self) -> CpuTime {
        self.begun.get().map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default()
    }
}

/// Waits until the source has heard.
async fn closed(connection: &QuicConnection) -> io::Result<()> {
    match connection.connection.closed().await {
        ConnectionError::ApplicationClosed(closed) if closed.error_code == DONE.into() => Ok(()),
        error => Err(error.into()),
    }
}
