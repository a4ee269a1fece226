//! A far end that is a stranger's server of QUIC's perf protocol (draft-banks-quic-performance): on each bidirectional stream
//! the client sends the number of bytes that it wants, in 8 bytes, then its own data; the answer has so many bytes.
//!
//! Nobody counts at that end: what was sent is what was acknowledged.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::atomic::Ordering,
    time::Instant,
};

use bytes::Bytes;
use futures_util::future::try_join_all;
use quinn::{RecvStream, SendStream, WriteError};
use socket2::SockRef;
use tokio::{sync::watch, time::sleep};
use wire::{CpuTime, FarFlow, FarSide, FlowEnd, FlowReport, QuicSettings, RendezvousRole, Role};

use super::{
    connection::{DONE, QuicConnection, QuicFlow, QuicFlows},
    meet::{self, LOOKS_EVERY, Tls},
    source::write_all,
};
use crate::{
    Control, Task, TrialError,
    address::{family_of, resolve},
    defaults::DATAGRAM_WINDOW_BYTES,
    flow::cpu_since,
    tls::client_for_anyone,
};

/// What such servers speak (RFC 7301).
const ALPN: &[u8] = b"perf";
/// An answer without an end: whoever asked for it stops it.
const ENDLESS: u64 = u64::MAX;
/// Pieces of a stream that are read at once, each of a packet.
const CHUNKS_AT_ONCE: usize = 64;

/// Connections of all flows to the server, which are made at once.
pub fn connections(task: &Task<'_, QuicSettings>, control: &Control) -> Result<Vec<(u32, QuicConnection)>, TrialError> {
    let RendezvousRole::Connect { address, port, bind, .. } = task.rendezvous else {
        return Err(TrialError::Settings("a QUIC perf server is connected to, it does not connect".into()));
    };
    let remote = resolve(address, *port, family_of(task.settings.family, *bind))?;
    control.check_peer(remote.ip())?;
    // It sends nothing that is secret.
    let tls = || client_for_anyone(ALPN).map(Tls::Connects);
    let connect = move |flow| meet::shake(task, flow, socket(task, *bind, remote)?, tls(), control);
    meet::all_at_once((0..task.settings.flows).map(|flow| (flow, move || connect(flow))))
}

fn socket(task: &Task<'_, QuicSettings>, bind: Option<IpAddr>, remote: SocketAddr) -> Result<UdpSocket, TrialError> {
    let any = if remote.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let local = SocketAddr::new(bind.unwrap_or(any), 0);
    let failed = |source| TrialError::Socket { what: format!("no socket from {local} to {remote}"), source };
    let socket = UdpSocket::bind(local).map_err(failed)?;
    if task.role == Role::Sink {
        // As between two engines; with less of it, more is lost on a busy host.
        let _ =
            SockRef::from(&socket).set_recv_buffer_size(usize::try_from(DATAGRAM_WINDOW_BYTES).unwrap_or(usize::MAX));
    }
    socket.connect(remote).map_err(failed)?;
    Ok(socket)
}

/// What the server's transport acknowledged of each flow, and how long that took.
pub fn far_side(flows: &[FlowReport]) -> FarSide {
    let of_flow = |flow: &FlowReport| {
        let took_ns = flow.end_ns - flow.first_byte_ns.unwrap_or(0);
        let elapsed_us = u64::try_from(took_ns / 1000).unwrap_or(0);
        FarFlow { flow: flow.flow, bytes: flow.bytes, elapsed_us, ..FarFlow::default() }
    };
    FarSide { flows: flows.iter().map(of_flow).collect(), ..FarSide::default() }
}

/// Sends until asked to stop, ends all streams, and waits until everything is acknowledged and answered.
pub fn send(flow: &QuicFlow, flows: &QuicFlows, settings: &QuicSettings, payload: &Bytes) {
    let Some(driver) = flow.connection.take_driver() else { return };
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let mut sent_cpu = None;
    let ended = driver.runtime.block_on(async {
        // A stream that asks for nothing: once it is answered, the server's program runs.
        let (mut request, answer) = open(flow, 0).await?;
        request.finish().map_err(io::Error::other)?;
        empty(answer).await?;
        flow.connection.received.store(true, Ordering::Release);
        let (mut streams, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..settings.streams {
            let (request, answer) = open(flow, 0).await?;
            streams.push(request);
            answers.push(answer);
        }
        let (_, streams) = write_all(flow, flows, settings, payload, streams).await.map_err(stopped)?;
        sent_cpu = Some(cpu_since(cpu, began));
        try_join_all(streams.into_iter().map(acknowledged)).await?;
        let acknowledged_ns = flows.now_ns();
        try_join_all(answers.into_iter().map(empty)).await?;
        Ok(acknowledged_ns)
    });
    let cpu = sent_cpu.unwrap_or_else(|| cpu_since(cpu, began));
    match ended {
        Ok(at_ns) => flows.end_at(flow, at_ns, flows.aborted().unwrap_or(FlowEnd::Drained), None, cpu),
        Err(error) => flows.end_as(flow, Err(error), cpu),
    }
    driver.close(&flow.connection.connection, DONE, "");
}

/// Has the server send on all streams, without an end, until it is asked to stop.
pub fn receive(flow: &QuicFlow, flows: &QuicFlows) {
    let Some(driver) = flow.connection.take_driver() else { return };
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let ended = driver.runtime.block_on(async {
        let (stop, _) = watch::channel(false);
        let mut reading = Vec::new();
        for number in 0..flow.connection.streams.len() {
            let (mut request, answer) = open(flow, ENDLESS).await?;
            request.finish().map_err(io::Error::other)?;
            reading.push(read(flow, flows, number, answer, stop.subscribe()));
        }
        let stopper = async {
            while !flows.sending_stopped() {
                sleep(LOOKS_EVERY).await;
            }
            stop.send_replace(true);
            Ok(())
        };
        tokio::try_join!(try_join_all(reading), stopper)?;
        Ok(flows.aborted().unwrap_or(FlowEnd::Drained))
    });
    let cpu: CpuTime = cpu_since(cpu, began);
    flows.end_as(flow, ended, cpu);
    driver.close(&flow.connection.connection, DONE, "");
}

/// Opens a stream that asks for so many bytes.
async fn open(flow: &QuicFlow, wanted: u64) -> io::Result<(SendStream, RecvStream)> {
    let (mut request, answer) = flow.connection.connection.open_bi().await?;
    request.write_all(&wanted.to_be_bytes()).await?;
    Ok((request, answer))
}

/// Waits until all that was sent on a stream is acknowledged.
async fn acknowledged(request: SendStream) -> io::Result<()> {
    match request.stopped().await.map_err(io::Error::other)? {
        None => Ok(()),
        Some(code) => Err(stopped(WriteError::Stopped(code).into())),
    }
}

/// A server that does not want more says no reason.
fn stopped(error: io::Error) -> io::Error {
    match error.get_ref().and_then(|reason| reason.downcast_ref()) {
        Some(WriteError::Stopped(code)) => {
            io::Error::other(format!("the server stopped reading (its code {code}): has it a limit?"))
        }
        _ => error,
    }
}

/// Reads an answer that nothing was asked for.
async fn empty(mut answer: RecvStream) -> io::Result<()> {
    match answer.read_chunk(usize::MAX, true).await.map_err(io::Error::other)? {
        None => Ok(()),
        Some(_) => Err(io::Error::other("the server sent data that nobody asked for: does it speak perf?")),
    }
}

async fn read(
    flow: &QuicFlow,
    flows: &QuicFlows,
    number: usize,
    mut answer: RecvStream,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut chunks = [const { Bytes::new() }; CHUNKS_AT_ONCE];
    while !flows.sending_stopped() {
        let filled = tokio::select! {
            biased;
            filled = answer.read_chunks(&mut chunks) => filled.map_err(io::Error::other)?,
            _ = stop.changed() => break,
        };
        let Some(filled) = filled else {
            return Err(io::Error::other("the server ended its answer, which was to have no end: has it a limit?"));
        };
        let count = chunks[..filled].iter().map(Bytes::len).sum();
        flow.connection.count(number, count);
        flow.passed(count, flows.origin());
    }
    // It may have ended by itself.
    let _ = answer.stop(DONE.into());
    Ok(())
}
