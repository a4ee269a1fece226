//! The sending thread of one flow: all of its streams, and the one stream on which the two ends tell how far they are.

use std::{
    future::{Future, poll_fn},
    io,
    pin::pin,
    sync::atomic::Ordering,
    task::Poll,
    time::{Duration, Instant},
};

use bytes::Bytes;
use quinn::{RecvStream, SendStream};
use tokio::time::timeout;
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
    mut streams: Vec<SendStream>,
) -> io::Result<(u64, Vec<SendStream>)> {
    let (held, began) = (&flow.connection.held, Instant::now());
    let count = u64::from(settings.streams);
    let schedule = settings.rate_bps.map(|rate_bps| Schedule::new(Gap::at_rate(1, rate_bps / count), 0));
    let mut schedules: Vec<_> = streams.iter().map(|_| schedule.clone()).collect();
    let (mut total, mut turn) = (0, 0);
    while !flows.sending_stopped() {
        let ahead_bytes = follow_congestion_window(flow, settings);
        let part_bytes = usize::try_from(ahead_bytes / count).unwrap_or(usize::MAX).clamp(1, payload.len());
        let now = began.elapsed();
        let pause = |schedule: &mut Schedule| schedule.pause(now, PACING_DEBT);
        let pauses: Vec<_> =
            schedules.iter_mut().map(|schedule| schedule.as_mut().map_or(Duration::ZERO, pause)).collect();
        let longest = pauses.iter().copied().min().filter(|pause| !pause.is_zero()).unwrap_or(LOOKS_EVERY);
        let next = poll_fn(|context| {
            let due = (0..pauses.len()).map(|place| (turn + place) % pauses.len()).filter(|at| pauses[*at].is_zero());
            for stream in due {
                // What is not taken of it is dropped; nothing is copied.
                let mut chunks = [payload.slice(..part_bytes)];
                if let Poll::Ready(written) = pin!(streams[stream].write_chunks(&mut chunks)).poll(context) {
                    return Poll::Ready((stream, written));
                }
            }
            Poll::Pending
        });
        held.waiting_writes.store(pauses.iter().filter(|pause| pause.is_zero()).count() as u64, Ordering::Relaxed);
        let written = timeout(longest.min(LOOKS_EVERY), next).await;
        held.waiting_writes.store(0, Ordering::Relaxed);
        let Ok((stream, written)) = written else { continue };
        let count = written?.bytes;
        turn = stream + 1;
        total += count as u64;
        flow.connection.count(stream, count);
        flow.passed(count, flows.origin());
        if let Some(schedule) = &mut schedules[stream] {
            schedule.sent(count as u64);
        }
    }
    streams.iter_mut().try_for_each(SendStream::finish).map_err(io::Error::other)?;
    Ok((total, streams))
}

/// Has the library take no more than it can soon send, in bytes that are not acknowledged: what it has taken when the sending
/// stops is still to be sent, and by itself it takes as much as the sink's window has room for, however slow the path is.
/// As the kernel's send buffers, it never shrinks: what came behind a loss is kept until that is repaired.
fn follow_congestion_window(flow: &QuicFlow, settings: &QuicSettings) -> u64 {
    let congestion_bytes = flow.connection.held.largest_window_bytes.load(Ordering::Relaxed);
    let most_bytes = settings.window_bytes.unwrap_or(QUIC_SEND_WINDOW_BYTES);
    let ahead_bytes = congestion_bytes.saturating_mul(2).saturating_add(QUIC_AHEAD_BYTES).min(most_bytes);
    flow.connection.connection.set_send_window(ahead_bytes);
    ahead_bytes
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
            flows: 1,
            streams: 1,
            length_bytes: 128 << 10,
            gso: true,
            gro: true,
            duration_us: 1_000_000,
            sample_interval_us: 100_000,
            connect_timeout_us: 20_000_000,
            drain_timeout_us: 1_000_000,
            silence_timeout_us: 20_000_000,
            ..QuicSettings::default()
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

    #[test]
    fn the_kernel_puts_datagrams_together_only_where_it_is_asked_to() {
        for gro in [true, false] {
            let ends = connected(&QuicSettings { gro, ..settings() });
            assert_eq!(ends.map(|end| end.gro), [gro; 2]);
        }
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
            let most = 2 * held.largest_window_bytes.load(Ordering::Relaxed) + QUIC_AHEAD_BYTES;
            flows.abort(FlowEnd::Stopped);
            assert!((1..=most).contains(&seen), "{seen} B of {most} B");
        });
    }
}
