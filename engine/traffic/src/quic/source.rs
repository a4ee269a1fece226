//! The sending thread of one flow: all of its streams, and the one stream on which the two ends tell how far they are.

use std::{
    io,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::future::try_join_all;
use quinn::{RecvStream, SendStream};
use tokio::{sync::watch, time::sleep};
use wire::{FlowEnd, QuicSettings, RUNNING};

use super::{
    connection::{DONE, QuicFlow, QuicFlows},
    meet::LOOKS_EVERY,
};
use crate::{
    defaults::PACING_DEBT,
    flow::cpu_since,
    pacing::{Gap, Schedule},
};

/// Bytes of a count.
const COUNT_BYTES: usize = 8;

/// Sends until asked to stop, ends all streams, and waits until the sink says what it has read.
pub fn send(flow: &QuicFlow, flows: &QuicFlows, settings: &QuicSettings, payload: &Bytes) {
    let Some(driver) = flow.connection.take_driver() else { return };
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let mut sent_cpu = None;
    let ended = driver.runtime.block_on(async {
        let (word, control) = open_control(flow).await?;
        let running = listen(flow, control);
        let written = async {
            let written = write_all(flow, flows, settings, payload).await;
            // What the thread costs is what sending costs: waiting for the drain is not part of it.
            sent_cpu = Some(cpu_since(cpu, began));
            written
        };
        let (read, written) = tokio::try_join!(running, written)?;
        drop(word);
        if read == written { Ok(flows.aborted().unwrap_or(FlowEnd::Drained)) } else { Err(differ(written, read)) }
    });
    flows.end_as(flow, ended, sent_cpu.unwrap_or_else(|| cpu_since(cpu, began)));
    driver.close(&flow.connection.connection, DONE, "done");
}

fn differ(written: u64, read: u64) -> io::Error {
    io::Error::other(format!("the sink read {read} B of {written} B"))
}

/// The stream of words: it is there for the sink once something was sent on it.
async fn open_control(flow: &QuicFlow) -> io::Result<(SendStream, RecvStream)> {
    let (mut word, control) = flow.connection.connection.open_bi().await?;
    word.write_all(&[RUNNING]).await?;
    Ok((word, control))
}

/// Waits for the sink's word that it runs, and then for what it has read.
async fn listen(flow: &QuicFlow, mut control: RecvStream) -> io::Result<u64> {
    let mut word = [0; 1];
    control.read_exact(&mut word).await.map_err(io::Error::other)?;
    flow.connection.received.store(true, Ordering::Release);
    let mut count = [0; COUNT_BYTES];
    control.read_exact(&mut count).await.map_err(io::Error::other)?;
    Ok(u64::from_be_bytes(count))
}

/// Writes on all streams until asked to stop, and ends them; how many bytes.
async fn write_all(flow: &QuicFlow, flows: &QuicFlows, settings: &QuicSettings, payload: &Bytes) -> io::Result<u64> {
    let (stop, _) = watch::channel(false);
    let mut written = Vec::new();
    for number in 0..settings.streams as usize {
        let stream = flow.connection.connection.open_uni().await?;
        let schedule =
            settings.rate_bps.map(|rate_bps| Schedule::new(Gap::at_rate(1, rate_bps / u64::from(settings.streams)), 0));
        let writer = Writer { flow, flows, number, stream, stop: stop.subscribe(), schedule };
        written.push(writer.write(payload));
    }
    let stopper = async {
        while !flows.sending_stopped() {
            sleep(LOOKS_EVERY).await;
        }
        stop.send_replace(true);
    };
    let (counts, ()) = tokio::join!(try_join_all(written), stopper);
    Ok(counts?.iter().sum())
}

struct Writer<'a> {
    flow: &'a QuicFlow,
    flows: &'a QuicFlows,
    number: usize,
    stream: SendStream,
    stop: watch::Receiver<bool>,
    schedule: Option<Schedule>,
}

impl Writer<'_> {
    async fn write(mut self, payload: &Bytes) -> io::Result<u64> {
        let began = Instant::now();
        let mut total = 0;
        while !self.flows.sending_stopped() {
            if let Some(pause) = self.pause(began.elapsed()) {
                sleep(pause.min(LOOKS_EVERY)).await;
                continue;
            }
            self.flow.connection.held.waiting_writes.fetch_add(1, Ordering::Relaxed);
            // What is not taken of it is dropped; nothing is copied.
            let mut chunks = [payload.clone()];
            let written = tokio::select! {
                biased;
                written = self.stream.write_chunks(&mut chunks) => Some(written),
                _ = self.stop.changed() => None,
            };
            self.flow.connection.held.waiting_writes.fetch_sub(1, Ordering::Relaxed);
            let Some(written) = written else { break };
            let count = written?.bytes;
            total += count as u64;
            self.flow.connection.count(self.number, count);
            self.flow.passed(count, self.flows.origin());
            if let Some(schedule) = &mut self.schedule {
                schedule.sent(count as u64);
            }
        }
        self.stream.finish().map_err(io::Error::other)?;
        Ok(total)
    }

    /// How long to wait before the next write; falls behind by at most [`PACING_DEBT`].
    fn pause(&mut self, now: Duration) -> Option<Duration> {
        let schedule = self.schedule.as_mut()?;
        let [now_ns, debt_ns] = [now, PACING_DEBT].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        schedule.put_off(now_ns, debt_ns);
        Some(Duration::from_nanos(schedule.due_ns().saturating_sub(now_ns))).filter(|pause| !pause.is_zero())
    }
}
