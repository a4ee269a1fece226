//! The sending thread of one flow.

use std::{
    io::{self, Read},
    mem::MaybeUninit,
    net::Shutdown,
    thread,
    time::{Duration, Instant},
};

use rustix::net::RecvFlags;
use socket2::SockRef;
use wire::{FlowEnd, TcpSettings};

use super::{
    flow::{TcpFlow, TcpFlows},
    payload::Feed,
};
use crate::{
    defaults::{PACING_DEBT, STOP_CHECK},
    flow::cpu_since,
};

/// Writes until told to stop, closes its half and waits until the sink has read everything.
pub fn send(flow: &TcpFlow, flows: &TcpFlows, settings: &TcpSettings, feed: Feed<'_>) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let written = write_until_stopped(flow, flows, settings.rate_bps, feed);
    // What the thread costs is what sending costs: waiting for the drain is not part of it.
    let cpu = cpu_since(cpu, began);
    match written.and_then(|()| drain(flow, flows)) {
        Ok(end) => flows.end(flow, end, None, cpu),
        Err(error) => flows.end(flow, FlowEnd::Broken, Some(error.to_string()), cpu),
    }
}

/// Whether the sink's application has said that the flow's first bytes reached it.
pub fn heard_from_sink(flow: &TcpFlow) -> bool {
    let mut word = [MaybeUninit::uninit()];
    let flags = RecvFlags::DONTWAIT.bits().cast_signed();
    SockRef::from(&flow.connection).recv_with_flags(&mut word, flags).is_ok_and(|count| count == 1)
}

/// Writes until told to stop, at a rate if one is given.
pub fn write_until_stopped(
    flow: &TcpFlow,
    flows: &TcpFlows,
    rate_bps: Option<u64>,
    mut feed: Feed<'_>,
) -> io::Result<()> {
    let mut pacer = rate_bps.map(|rate_bps| Pacer::new(rate_bps, Instant::now()));
    while !flows.sending_stopped() {
        if let Some(pacer) = &mut pacer {
            let pause = pacer.pause(Instant::now());
            if !pause.is_zero() {
                thread::sleep(pause.min(STOP_CHECK));
                continue;
            }
        }
        match feed.write(&flow.connection) {
            Ok(count) => {
                flow.passed(count, flows.origin());
                if let Some(pacer) = &mut pacer {
                    pacer.sent(count);
                }
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The sink closes only after it has read to the end: its FIN says that every byte arrived.
fn drain(flow: &TcpFlow, flows: &TcpFlows) -> io::Result<FlowEnd> {
    if let Err(error) = flow.connection.shutdown(Shutdown::Write) {
        // A connection that broke in the meantime says why, once.
        return Err(flow.connection.take_error()?.unwrap_or(error));
    }
    let mut nothing = [0; 16];
    loop {
        match (&flow.connection).read(&mut nothing) {
            Ok(0) => return Ok(flows.aborted().unwrap_or(FlowEnd::Drained)),
            Ok(_) => return Err(io::Error::other("the sink sent more than the word that it runs")),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
        && error.raw_os_error() != Some(rustix::io::Errno::TIMEDOUT.raw_os_error())
}

/// Spaces an application's writes so that their mean rate is what was asked for. `now` is an argument.
struct Pacer {
    rate_bps: u64,
    due: Instant,
}

impl Pacer {
    fn new(rate_bps: u64, now: Instant) -> Self {
        Self { rate_bps, due: now }
    }

    /// How long to wait before the next write; zero: write now. Falls behind by at most [`PACING_DEBT`].
    fn pause(&mut self, now: Instant) -> Duration {
        if let Some(earliest) = now.checked_sub(PACING_DEBT) {
            self.due = self.due.max(earliest);
        }
        self.due.saturating_duration_since(now)
    }

    fn sent(&mut self, bytes: usize) {
        let nanoseconds = bytes as u128 * 8 * 1_000_000_000 / u128::from(self.rate_bps);
        self.due += Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pacer_keeps_the_mean_rate() {
        let began = Instant::now();
        let mut pacer = Pacer::new(8_000_000, began);
        let mut now = began;
        for _ in 0..1000 {
            now += pacer.pause(now);
            pacer.sent(1000);
        }
        assert_eq!(now - began, Duration::from_millis(999));
    }

    #[test]
    fn a_pacer_catches_up_after_a_short_stall_only() {
        let began = Instant::now();
        let mut pacer = Pacer::new(8_000_000, began);
        let late = began + Duration::from_secs(10);
        let mut at_once = 0;
        while pacer.pause(late).is_zero() {
            pacer.sent(1000);
            at_once += 1;
        }
        assert_eq!(at_once, 101);
    }
}
