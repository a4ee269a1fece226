//! The sending threads: one for each flow that sends as fast as it can, one for all flows that keep a pace.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    net::UdpSocket,
    num::NonZero,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use rustix::net::SendFlags;
use wire::{CpuTime, DatagramKind, FlowEnd, UdpCounts, UdpSettings};

use super::{
    histograms,
    outgoing::{Outgoing, PacketFormat, is_refusal},
    pace::Pace,
    packet_format::Ours,
    rows::Quantity,
    stream::{Outcome, Stream, UdpFlow, UdpFlows},
};
use crate::{
    TrialError,
    defaults::{
        DATAGRAMS_AT_ONCE, END_MARK_INTERVAL, END_MARK_INTERVAL_LATER, END_MARKS, END_MARKS_QUICK, PACER_SPIN,
        REFUSED_PAUSE, STOP_CHECK,
    },
    flow::cpu_since,
    origin::Origin,
    threads::spawn,
    time::nanoseconds,
};

/// Whose datagrams a source sends.
pub trait Kind: PacketFormat {
    /// Those of a flow, whose times of sending count on from an origin.
    fn of(flow: &UdpFlow, origin: Origin) -> Self;
    /// Whether the end is signalled to the sink over the flow's own socket.
    const SIGNALS_END: bool;
}

/// One flow as its thread sees it.
struct Sender<'a, K> {
    flow: &'a UdpFlow,
    outgoing: Outgoing<K>,
    /// Whether the kernel cut its datagrams apart when it began.
    segmented: bool,
    pace: Option<Pace>,
    spacing: Histogram<u64>,
    last_ns: Option<u64>,
    refused: Refused,
    burst_max: u64,
}

/// Starts the threads of a source. `segmented`: every flow's socket has the kernel cut its datagrams apart.
pub fn spawn_all<'scope, K: Kind>(
    scope: &'scope Scope<'scope, '_>,
    flows: &'scope UdpFlows,
    settings: &'scope UdpSettings,
    segmented: bool,
) -> Result<(), TrialError> {
    if settings.rate_bps.is_some() || settings.spacing_ns.is_some() {
        let Some(first) = flows.all.first() else { return Ok(()) };
        return spawn(scope, first, flows, &settings.cpus, move || {
            send_paced::<K>(&flows.all, flows, settings, segmented);
        });
    }
    flows.all.iter().try_for_each(|flow| {
        spawn(scope, flow, flows, &settings.cpus, move || send_flood::<K>(flow, flows, settings, segmented))
    })
}

/// Sends as fast as the kernel takes it, until asked to stop.
fn send_flood<K: Kind>(flow: &UdpFlow, flows: &UdpFlows, settings: &UdpSettings, segmented: bool) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let mut sender = Sender::<K>::new(flow, flows.origin_of_both(), settings, segmented);
    let mut broken = None;
    while broken.is_none() && !flows.sending_stopped() {
        flow.meter.report_if_requested(|| flows.now_ns());
        let most = sender.outgoing.together();
        match sender.send(flows, most, now_ns(flows), SendFlags::empty()) {
            Ok(true) => {}
            Ok(false) => thread::sleep(REFUSED_PAUSE),
            Err(error) => broken = Some(error.to_string()),
        }
        broken = broken.or_else(|| flow.connection.failure().cloned());
    }
    sender.end(flows, broken, cpu_since(cpu, began));
}

/// One turn of a pacer that spins takes no longer: in what is beyond, the processor had something else to do.
const SPIN_MAX_NS: u64 = 2_000;

/// Sends all flows at their pace, until asked to stop. The CPU time of the thread, but for what it spun away until a datagram
/// was due, is reported as the first flow's.
fn send_paced<K: Kind>(all: &[UdpFlow], flows: &UdpFlows, settings: &UdpSettings, segmented: bool) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    // The kernel may put a sleep off by 50 us otherwise, to wake several threads at once.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    let sender = |flow| Sender::new(flow, flows.origin_of_both(), settings, segmented);
    let mut senders: Vec<Sender<'_, K>> = all.iter().map(sender).collect();
    let mut broken: Vec<Option<String>> = vec![None; senders.len()];
    let mut schedule = begin_all(&mut senders, now_ns(flows));
    let (mut spinning_since_ns, mut spun_ns) = (None::<u64>, 0);
    while !flows.sending_stopped() {
        let Some(&Reverse((due_ns, index))) = schedule.peek() else { break };
        let now_ns = now_ns(flows);
        spun_ns += spinning_since_ns.take().map_or(0, |since| (now_ns - since).min(SPIN_MAX_NS));
        if due_ns > now_ns {
            spinning_since_ns = wait(due_ns - now_ns).then_some(now_ns);
            continue;
        }
        // Rarely enough to cost nothing, and as often as anything is sent.
        all.iter().take(1).for_each(|flow| flow.meter.report_if_requested(|| flows.now_ns()));
        schedule.pop();
        let sender = &mut senders[index];
        match sender.send_due(flows, now_ns) {
            Ok(next_ns) => match sender.flow.connection.failure() {
                None => schedule.push(Reverse((next_ns, index))),
                Some(reason) => broken[index] = Some(reason.clone()),
            },
            Err(error) => broken[index] = Some(error.to_string()),
        }
        if let Some(reason) = broken[index].take() {
            // Its end must be known at once, and the others go on.
            sender.leave_broken(flows, reason);
        }
    }
    let mut cpu = cpu_since(cpu, began);
    // Where the clock is not read in user space, that is where the time went.
    let of_user_us = cpu.user_us.min(spun_ns / 1000);
    cpu.user_us -= of_user_us;
    cpu.system_us = cpu.system_us.saturating_sub(spun_ns / 1000 - of_user_us);
    end_all(senders, flows, &mut cpu);
}

fn begin_all<K: Kind>(senders: &mut [Sender<'_, K>], now_ns: u64) -> BinaryHeap<Reverse<(u64, usize)>> {
    let count = senders.len();
    let due = senders.iter_mut().enumerate().filter_map(|(index, sender)| {
        let pace = sender.pace.as_mut()?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        pace.begin(now_ns, index as f64 / count as f64);
        Some(Reverse((pace.due_ns(), index)))
    });
    due.collect()
}

/// Sleeps as far as a sleep can be trusted, and no longer than a stop may wait; the last of it is up to the caller, who
/// looks at the clock again and again: then this spins once, and tells.
fn wait(left_ns: u64) -> bool {
    let sleep = Duration::from_nanos(left_ns).saturating_sub(PACER_SPIN);
    if sleep.is_zero() {
        std::hint::spin_loop();
    } else {
        thread::sleep(sleep.min(STOP_CHECK));
    }
    sleep.is_zero()
}

impl Kind for Ours {
    fn of(flow: &UdpFlow, origin: Origin) -> Self {
        Self::new(flow.index, flow.connection.tag, origin)
    }

    const SIGNALS_END: bool = true;
}

impl<'a, K: Kind> Sender<'a, K> {
    fn new(flow: &'a UdpFlow, origin: Origin, settings: &UdpSettings, segmented: bool) -> Self {
        let outgoing = Outgoing::new(K::of(flow, origin), settings.length_bytes as usize, segmented);
        let together = outgoing.together();
        Self {
            flow,
            pace: Pace::new(settings.length_bytes, settings.rate_bps, settings.spacing_ns, together),
            outgoing,
            segmented,
            spacing: histograms::of_times(),
            last_ns: None,
            refused: Refused::default(),
            burst_max: 0,
        }
    }

    /// Sends what is due; returns when to look again.
    fn send_due(&mut self, flows: &UdpFlows, now_ns: u64) -> io::Result<u64> {
        let together = self.outgoing.together();
        let count = self.pace.as_mut().map_or(0, |pace| pace.due(now_ns, together));
        let taken = count == 0 || self.send(flows, count, now_ns, SendFlags::DONTWAIT)?;
        let due_ns = self.pace.as_ref().map_or(u64::MAX, Pace::due_ns);
        let pause_ns = if taken { 0 } else { REFUSED_PAUSE.as_nanos() };
        Ok(due_ns.max(now_ns + u64::try_from(pause_ns).unwrap_or(0)))
    }

    /// Sends up to `count` datagrams; returns whether the kernel took any.
    fn send(&mut self, flows: &UdpFlows, count: usize, now_ns: u64, flags: SendFlags) -> io::Result<bool> {
        match self.outgoing.send(&self.flow.connection.socket, count, flags) {
            Ok(sent) => {
                self.sent(flows, sent, now_ns);
                Ok(true)
            }
            Err(error) if is_refusal(&error) => {
                // A thread that may wait waits for room, which is no refusal.
                let waited = flags.is_empty() && error.kind() == io::ErrorKind::WouldBlock;
                if !waited {
                    self.refused.take(self.outgoing.next, count as u64);
                }
                Ok(waited)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(cause_of(error, &self.flow.connection.socket)),
        }
    }

    fn sent(&mut self, flows: &UdpFlows, sent: usize, now_ns: u64) {
        self.flow.count(sent * self.outgoing.length(), flows.origin());
        self.burst_max = self.burst_max.max(sent as u64);
        if let Some(last_ns) = self.last_ns.replace(now_ns) {
            histograms::record(&mut self.spacing, now_ns - last_ns, 1);
        }
        histograms::record(&mut self.spacing, 0, sent as u64 - 1);
        if let Some(pace) = &mut self.pace {
            pace.sent(sent);
        }
    }

    /// Repeats that the flow has stopped until the sink acknowledges it, and ends the flow.
    fn end(mut self, flows: &UdpFlows, broken: Option<String>, cpu: CpuTime) {
        let stopped_ns = flows.now_ns();
        self.stopped(stopped_ns);
        if broken.is_none() {
            say_ended(&[&self], flows);
        }
        self.leave();
        let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
        flows.end_at(self.flow, stopped_ns, end, broken, cpu);
    }

    /// What it waits for from here on is no time in which it sent.
    fn stopped(&self, at_ns: i64) {
        self.flow.connection.tally().ended_ns = Some(at_ns);
    }

    fn leave_broken(&mut self, flows: &UdpFlows, reason: String) {
        self.leave();
        flows.end(self.flow, FlowEnd::Broken, Some(reason), CpuTime::default());
    }

    fn leave(&mut self) {
        let counts = UdpCounts {
            datagrams: self.outgoing.next,
            refused: self.refused.count,
            behind_max_ns: self.pace.as_ref().map(|pace| pace.behind_max_ns),
            burst_max: Some(self.burst_max),
            gso: self.segmented.then(|| self.outgoing.segmented()),
            ..UdpCounts::default()
        };
        let histograms = histograms::rows(self.flow.index, Quantity::Spacing, &self.spacing, 0).collect();
        self.flow.connection.leave(Outcome { counts, histograms, ..Outcome::default() });
    }
}

fn end_all<K: Kind>(senders: Vec<Sender<'_, K>>, flows: &UdpFlows, cpu: &mut CpuTime) {
    let stopped_ns = flows.now_ns();
    let running: Vec<Sender<'_, K>> = senders.into_iter().filter(|sender| sender.flow.ending().is_none()).collect();
    for sender in &running {
        sender.stopped(stopped_ns);
    }
    say_ended(&running.iter().collect::<Vec<_>>(), flows);
    for mut sender in running {
        sender.leave();
        let end = flows.aborted().unwrap_or(FlowEnd::Drained);
        flows.end_at(sender.flow, stopped_ns, end, None, std::mem::take(cpu));
    }
}

/// Reports to each flow's sink how many datagrams were sent, until it acknowledges that, or for a while.
fn say_ended<K: Kind>(senders: &[&Sender<'_, K>], flows: &UdpFlows) {
    let mut unacknowledged: Vec<&Sender<'_, K>> = if K::SIGNALS_END { senders.to_vec() } else { Vec::new() };
    for mark in 0..END_MARKS {
        if unacknowledged.is_empty() {
            return;
        }
        for sender in &unacknowledged {
            sender.flow.connection.say(DatagramKind::End, sender.outgoing.next);
        }
        // Whoever stops the trial does not wait for an answer.
        if flows.aborted().is_some() {
            return;
        }
        thread::sleep(if mark < END_MARKS_QUICK { END_MARK_INTERVAL } else { END_MARK_INTERVAL_LATER });
        unacknowledged.retain(|sender| !received(sender.flow, DatagramKind::Ended));
    }
}

/// Whether this message is among those that were received from the sink.
pub fn received(flow: &UdpFlow, kind: DatagramKind) -> bool {
    receive_until(&flow.connection, Some(kind))
}

/// Receives the sink's datagrams, and answers repeated openings.
pub fn drain_received(stream: &Stream) {
    receive_until(stream, None);
}

fn receive_until(stream: &Stream, kind: Option<DatagramKind>) -> bool {
    let mut bytes = [0; 64];
    for _ in 0..DATAGRAMS_AT_ONCE {
        match receive_now(&stream.socket, &mut bytes) {
            Ok(length) => {
                let header = stream.header_of(&bytes[..length]);
                if header.is_ok_and(|header| Some(header.kind) == kind) {
                    return true;
                }
                stream.answer_again(&bytes[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Of packets that were too large for a router: the kernel fragments them from now on.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {}
            Err(error) => {
                // What the kernel reports once is received here, and not by the thread that sends.
                stream.fail(error.to_string());
                return false;
            }
        }
    }
    false
}

/// A socket that somebody closed from outside has no peer any more: why, it says once.
fn cause_of(error: io::Error, socket: &UdpSocket) -> io::Error {
    if error.raw_os_error() != Some(rustix::io::Errno::DESTADDRREQ.raw_os_error()) {
        return error;
    }
    socket.take_error().ok().flatten().unwrap_or(error)
}

fn receive_now(socket: &UdpSocket, bytes: &mut [u8]) -> io::Result<usize> {
    let (_, length) = rustix::net::recv(socket, bytes, rustix::net::RecvFlags::DONTWAIT)?;
    Ok(length)
}

/// Datagrams that the kernel refused, each counted once however often it was tried again.
#[derive(Default)]
struct Refused {
    count: u64,
    /// Number of the first one that never was.
    beyond: u64,
}

impl Refused {
    fn take(&mut self, first: u64, count: u64) {
        let beyond = first.saturating_add(count);
        self.count += beyond.saturating_sub(self.beyond.max(first));
        self.beyond = self.beyond.max(beyond);
    }
}

/// Nanoseconds of the trial.
fn now_ns(flows: &UdpFlows) -> u64 {
    u64::try_from(nanoseconds(flows.origin().elapsed())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_that_are_refused_again_and_again_count_once() {
        let mut refused = Refused::default();
        for _ in 0..1000 {
            refused.take(64, 32);
        }
        assert_eq!(refused.count, 32);
        refused.take(80, 32);
        assert_eq!(refused.count, 48);
        refused.take(500, 1);
        assert_eq!(refused.count, 49);
    }
}
