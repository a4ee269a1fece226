//! The sending thread of one flow.

use std::{
    io::{self, Read},
    mem::MaybeUninit,
    net::Shutdown,
    thread,
    time::Instant,
};

use rustix::net::RecvFlags;
use socket2::SockRef;
use wire::{FlowEnd, TcpSettings};

use super::{
    flow::{TcpFlow, TcpFlows},
    payload::Feed,
    socket::is_timeout,
};
use crate::{
    defaults::{PACING_DEBT, STOP_CHECK},
    flow::cpu_since,
    pacing::{Gap, Schedule},
};

/// Most that a sink says, TLS included; a buffer that is full takes no more, which ends the reading as the end does.
const LAST_WORDS_BYTES: usize = 256;

/// Writes until asked to stop, closes its half and waits until the sink has read everything.
pub fn send(flow: &TcpFlow, flows: &TcpFlows, settings: &TcpSettings, mut feed: Feed<'_>) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let written = write_until_stopped(flow, flows, settings.rate_bps, &mut feed);
    // What the thread costs is what sending costs: waiting for the drain is not part of it.
    let cpu = cpu_since(cpu, began);
    flows.end_as(flow, written.and_then(|()| drain(flow, flows, &mut feed)), cpu);
}

/// Whether the sink's application has said that the flow's first bytes reached it.
pub fn sink_has_received(flow: &TcpFlow) -> bool {
    hears(flow, RecvFlags::DONTWAIT)
}

/// The same where only the flow's thread can read what it says: it does so at the end.
pub fn sink_has_spoken(flow: &TcpFlow) -> bool {
    hears(flow, RecvFlags::DONTWAIT | RecvFlags::PEEK)
}

fn hears(flow: &TcpFlow, flags: RecvFlags) -> bool {
    let mut word = [MaybeUninit::uninit()];
    SockRef::from(&flow.connection).recv_with_flags(&mut word, flags.bits().cast_signed()).is_ok_and(|count| count == 1)
}

/// Writes until asked to stop, at a rate if one is given.
pub fn write_until_stopped(
    flow: &TcpFlow,
    flows: &TcpFlows,
    rate_bps: Option<u64>,
    feed: &mut Feed<'_>,
) -> io::Result<()> {
    let began = Instant::now();
    let mut schedule = rate_bps.map(|rate_bps| Schedule::new(Gap::at_rate(1, rate_bps), 0));
    while !flows.sending_stopped() {
        if let Some(schedule) = &mut schedule {
            let pause = schedule.pause(began.elapsed(), PACING_DEBT);
            if !pause.is_zero() {
                thread::sleep(pause.min(STOP_CHECK));
                continue;
            }
        }
        match feed.write(&flow.connection) {
            Ok(count) => {
                flow.passed(count, flows.origin());
                if let Some(schedule) = &mut schedule {
                    schedule.sent(count as u64);
                }
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The sink closes only after it has read to the end: its FIN says that every byte arrived.
fn drain(flow: &TcpFlow, flows: &TcpFlows, feed: &mut Feed<'_>) -> io::Result<FlowEnd> {
    while !feed.is_finished()? {
        match feed.write(&flow.connection) {
            Ok(count) => flow.passed(count, flows.origin()),
            Err(error) if is_timeout(&error) && flows.aborted().is_none() => {}
            Err(error) => return Err(error),
        }
    }
    if let Err(error) = flow.connection.shutdown(Shutdown::Write) {
        // A connection that broke in the meantime says why, once.
        return Err(flow.connection.take_error()?.unwrap_or(error));
    }
    let mut sent = [0; LAST_WORDS_BYTES];
    let mut filled = 0;
    loop {
        match (&flow.connection).read(&mut sent[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(end) = flows.aborted() {
        return Ok(end);
    }
    if feed.heard(&mut sent[..filled])? {
        Ok(FlowEnd::Drained)
    } else {
        Err(io::Error::other("the sink sent something else than the word that it runs"))
    }
}
