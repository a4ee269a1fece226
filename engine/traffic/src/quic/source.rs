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
    defaults::{PACING_DEBT, QUIC_AHEAD_BYTES, QUIC_SEND_WINDOW_BYTES},
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
            let mut streams = Vec::new();
            for _ in 0..settings.streams {
                streams.push(flow.connection.connection.open_uni().await?);
            }
            let written = write_all(flow, flows, settings, payload, streams).await;
            // What the thread costs is what sending costs: waiting for the drain is not part of it.
            sent_cpu = Some(cpu_since(cpu, began));
            written
        };
        let (read, (written, _)) = tokio::try_join!(running, written)?;
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
pub async fn write_all(
    flow: &QuicFlow,
    flows: &QuicFlows,
    settings: &QuicSettings,
    payload: &Bytes,
    streams: Vec<SendStream>,
) -> io::Result<(u64, Vec<SendStream>)> {
    let (stop, _) = watch::channel(false);
    let mut written = Vec::new();
    for (number, stream) in streams.into_iter().enumerate() {
        let schedule =
            settings.rate_bps.map(|rate_bps| Schedule::new(Gap::at_rate(1, rate_bps / u64::from(settings.streams)), 0));
        let window_bytes = settings.window_bytes;
        let writer = Writer { flow, flows, number, stream, stop: stop.subscribe(), schedule, window_bytes };
        written.push(writer.write(payload));
    }
    let stopper = async {
        while !flows.sending_stopped() {
            sleep(LOOKS_EVERY).await;
        }
        stop.send_replace(true);
    };
    let (written, ()) = tokio::join!(try_join_all(written), stopper);
    let (counts, streams): (Vec<u64>, _) = written?.into_iter().unzip();
    Ok((counts.iter().sum(), streams))
}

struct Writer<'a> {
    flow: &'a QuicFlow,
    flows: &'a QuicFlows,
    number: usize,
    stream: SendStream,
    stop: watch::Receiver<bool>,
    schedule: Option<Schedule>,
    /// The most that the connection keeps without an acknowledgement, where the plan says it.
    window_bytes: Option<u64>,
}

impl Writer<'_> {
    async fn write(mut self, payload: &Bytes) -> io::Result<(u64, SendStream)> {
        let began = Instant::now();
        let mut total = 0;
        while !self.flows.sending_stopped() {
            if let Some(pause) = self.pause(began.elapsed()) {
                sleep(pause.min(LOOKS_EVERY)).await;
                continue;
            }
            self.follow_congestion_window();
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
        Ok((total, self.stream))
    }

    /// Has the library take no more than it can soon send: what it has taken when the sending stops is still to be sent, and
    /// by itself it takes as much as the sink's window has room for, however slow the path is.
    fn follow_congestion_window(&self) {
        let connection = &self.flow.connection;
        let congestion_bytes = connection.held.window_bytes.load(Ordering::Relaxed);
        let ahead_bytes = congestion_bytes.saturating_mul(2).saturating_add(QUIC_AHEAD_BYTES);
        let most_bytes = self.window_bytes.unwrap_or(QUIC_SEND_WINDOW_BYTES);
        connection.connection.set_send_window(ahead_bytes.min(most_bytes));
    }

    /// How long to wait before the next write; falls behind by at most [`PACING_DEBT`].
    fn pause(&mut self, now: Duration) -> Option<Duration> {
        let schedule = self.schedule.as_mut()?;
        let [now_ns, debt_ns] = [now, PACING_DEBT].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        schedule.put_off(now_ns, debt_ns);
        Some(Duration::from_nanos(schedule.due_ns().saturating_sub(now_ns))).filter(|pause| !pause.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::{Ipv4Addr, UdpSocket},
        thread,
    };

    use wire::{RendezvousRole, Role, Token};

    use super::*;
    use crate::{
        Control, Task,
        origin::Origin,
        quic::{connection::QuicConnection, meet},
    };

    const PATIENCE: Duration = Duration::from_secs(20);

    fn settings() -> QuicSettings {
        QuicSettings {
            perf: false,
            flows: 1,
            streams: 1,
            length_bytes: 128 << 10,
            window_bytes: None,
            stream_window_bytes: None,
            congestion: None,
            datagram_bytes: None,
            gso: true,
            gro: true,
            duration_us: 1_000_000,
            pad_us: 0,
            sample_interval_us: 100_000,
            connect_timeout_us: 20_000_000,
            drain_timeout_us: 1_000_000,
            silence_timeout_us: 20_000_000,
            rate_bps: None,
            cpus: Vec::new(),
            family: None,
        }
    }

    /// Both ends of a connection over loopback.
    fn connected(settings: &QuicSettings) -> [QuicConnection; 2] {
        let sockets = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let addresses = [0, 1].map(|end: usize| sockets[end].local_addr().unwrap());
        let control = Control::default();
        let shake = |socket: UdpSocket, other: usize, role: Role| {
            socket.connect(addresses[other]).unwrap();
            let address = addresses[other].ip().to_string();
            let port = addresses[other].port();
            let rendezvous = match role {
                Role::Source => RendezvousRole::Connect { address, port, bind: None, further: Vec::new() },
                Role::Sink => RendezvousRole::Listen { bind: None, ports: None },
            };
            let (token, answer) = (Token([1; 16]), Token([2; 16]));
            let task = Task { trial: "t", role, token, answer, rendezvous: &rendezvous, settings };
            meet::shake_with_engine(&task, 0, socket, &control).unwrap()
        };
        let [source, sink] = sockets;
        thread::scope(|scope| {
            let shake = &shake;
            let sink = scope.spawn(move || shake(sink, 0, Role::Sink));
            [shake(source, 1, Role::Source), sink.join().unwrap()]
        })
    }

    /// Whatever is taken and was not sent when the time is over is sent after it: on a slow path for seconds.
    #[test]
    fn a_source_takes_no_more_than_it_can_soon_send() {
        let settings = settings();
        let [source, sink] = connected(&settings);
        // Nobody reads at the sink, and nothing is acknowledged: as on a path that is very slow.
        let _silent = sink.take_driver();
        let flows = QuicFlows::new([(0, source)], Origin::now());
        let flow = &flows.all[0];
        let payload = Bytes::from(vec![0; settings.length_bytes as usize]);
        thread::scope(|scope| {
            scope.spawn(|| send(flow, &flows, &settings, &payload));
            flows.begin();
            let held = &flow.connection.held;
            let begun = Instant::now();
            let full = |bytes| flow.bytes() == bytes && held.waiting_writes.load(Ordering::Relaxed) > 0;
            let mut seen = 0;
            while (seen == 0 || !full(seen)) && begun.elapsed() < PATIENCE {
                seen = flow.bytes();
                thread::sleep(LOOKS_EVERY);
            }
            let most = 2 * held.window_bytes.load(Ordering::Relaxed) + QUIC_AHEAD_BYTES;
            flows.abort(FlowEnd::Stopped);
            assert!((1..=most).contains(&seen), "{seen} B of {most} B");
        });
    }
}
