//! The receiving thread of one flow.

use std::{
    io,
    sync::atomic::{AtomicI64, Ordering},
    time::Instant,
};

use sys::{ReceiveBatch, Received};
use wire::{DatagramKind, FlowEnd, UdpSettings};

use super::{
    arrivals::Delays,
    counted::{Counted, room},
    silence::{Silence, silence_of},
    stream::{NotOurs, UdpFlow, UdpFlows},
};
use crate::{
    defaults::{DUPLICATES_AWAITED, GONE_AWAITED, LATE_AWAITED, PAUSE_BORNE, TOUCHED_MAX_BYTES},
    flow::cpu_since,
    time::{from_nanoseconds, microseconds_to_ns, nanoseconds},
};

/// What the coordinator of a sink knows of the source's time, since the origin.
pub struct Expected {
    /// When the first of all flows began.
    pub begun_ns: AtomicI64,
    /// When the source must have stopped.
    pub stopped_ns: AtomicI64,
}

/// Not known yet.
pub const NOT_YET: i64 = i64::MAX;

/// What the thread of a flow receives into, and how many buffers that is.
pub type Room = (ReceiveBatch, usize);

/// One for each of some flows; `together`: the kernel puts datagrams together. That of many flows is found when they need it,
/// and that of threads that are bound to CPUs by these: memory is where it is first written from.
pub fn rooms(flows: usize, settings: &UdpSettings, together: bool) -> Vec<Room> {
    let mut rooms: Vec<_> = (0..flows).map(|_| room(settings.length_bytes, together)).collect();
    if settings.cpus.is_empty() && rooms.iter().map(|(batch, _)| batch.size_bytes()).sum::<usize>() <= TOUCHED_MAX_BYTES
    {
        for (batch, _) in &mut rooms {
            batch.touch();
        }
    }
    rooms
}

/// Receives until the flow is over: its source has reported that, or must have stopped, or is silent for too long.
pub fn receive(flow: &UdpFlow, flows: &UdpFlows, expected: &Expected, settings: &UdpSettings, (mut batch, room): Room) {
    let mut receiver = Receiver::new(flow, flows, settings);
    let mut running = None;
    let over = loop {
        match batch.receive(&flow.connection.socket) {
            Ok(buffers) => {
                if receiver.take(buffers) < room {
                    receiver.counted.kernel.drained();
                }
                receiver.publish(flows);
                if running.is_none() && flow.bytes() > 0 {
                    // What the thread costs counts from the first datagram: before it, the thread only waits.
                    running = Some((sys::thread_cpu().ok(), Instant::now()));
                    // The source counts the duration from here; the coordinator says it again.
                    flow.connection.say(DatagramKind::Running, 0);
                }
            }
            Err(error) if is_passing(&error) => receiver.counted.kernel.look(),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => receiver.is_gone(flows.now_ns(), &error),
            Err(error) => break Err(error.to_string()),
        }
        if flows.aborted().is_some() {
            break Ok(());
        }
        match receiver.judge(flows.now_ns(), expected) {
            Verdict::GoOn => {}
            Verdict::Over => break Ok(()),
            Verdict::Broken(reason) => break Err(reason),
        }
    };
    let cpu = running.map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default();
    let at_ns = receiver.ended_ns().unwrap_or_else(|| flows.now_ns());
    receiver.leave();
    match over {
        Ok(()) => flows.end_at(flow, at_ns, flows.aborted().unwrap_or(FlowEnd::Drained), None, cpu),
        Err(reason) => flows.end_at(flow, at_ns, FlowEnd::Broken, Some(reason), cpu),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

enum Verdict {
    GoOn,
    Over,
    Broken(String),
}

/// One flow as its thread sees it.
struct Receiver<'a> {
    flow: &'a UdpFlow,
    length: usize,
    silence_ns: i64,
    drain_ns: i64,
    counted: Counted<'a>,
    silence: Silence,
    last_ns: Option<i64>,
    /// How many the source reported as sent, once it has stopped.
    sent: Option<u64>,
    stopped_ns: Option<i64>,
    /// Since when the source's port is closed, and the kernel's word for it.
    gone: Option<(i64, String)>,
    /// When the drain was over; what comes now is late.
    drained_ns: Option<i64>,
}

impl<'a> Receiver<'a> {
    fn new(flow: &'a UdpFlow, flows: &UdpFlows, settings: &UdpSettings) -> Self {
        Self {
            flow,
            length: settings.length_bytes as usize,
            silence_ns: nanoseconds(silence_of(settings)),
            drain_ns: microseconds_to_ns(settings.drain_us),
            counted: Counted::new(flow, settings.length_bytes as usize, flows.origin_of_both()),
            silence: Silence::from(flows.now_ns()),
            last_ns: None,
            sent: None,
            stopped_ns: None,
            gone: None,
            drained_ns: None,
        }
    }

    /// Returns how many buffers there were.
    fn take<'b>(&mut self, buffers: impl Iterator<Item = Received<'b>>) -> usize {
        let Self { flow, length, sent, drained_ns, counted, .. } = self;
        counted.take_each(buffers, |counted, datagram, moment| match flow.connection.header_of(datagram) {
            Ok(header) => match header.kind {
                DatagramKind::Data if datagram.len() == *length && drained_ns.is_some() => {
                    counted.sequence.take_late(header.sequence);
                }
                DatagramKind::Data if datagram.len() == *length => {
                    counted.take(header.sequence, header.sent_unix_ns, moment);
                }
                DatagramKind::Trial if datagram.len() == *length => {}
                DatagramKind::End => {
                    *sent = sent.or(Some(header.sequence));
                    flow.connection.say(DatagramKind::Ended, 0);
                }
                _ => NotOurs::NotAnEngine.count(&mut counted.rejected),
            },
            Err(NotOurs::NotAnEngine) if flow.connection.answer_again(datagram) => {}
            // The source repeats this; the repetitions are received here.
            Err(NotOurs::NotAnEngine) if flow.connection.is_answer(datagram) => {}
            Err(not_ours) => not_ours.count(&mut counted.rejected),
        })
    }

    /// Reports to the coordinator what was received.
    fn publish(&mut self, flows: &UdpFlows) {
        let now_ns = flows.now_ns();
        if self.counted.has_fresh() {
            self.last_ns = Some(now_ns);
            self.silence = Silence::from(now_ns);
        }
        if self.sent.is_some() {
            self.stopped_ns = self.stopped_ns.or(Some(now_ns));
        }
        let ended_ns = self.ended_ns();
        self.counted.publish(flows, |tally, arrivals| {
            tally.delays = merged(tally.delays, arrivals.interval.take());
            tally.ended_ns = ended_ns;
        });
    }

    /// When the flow was over, once its source has stopped: its last datagram may arrive after the message that it has.
    fn ended_ns(&self) -> Option<i64> {
        self.stopped_ns.map(|stopped_ns| stopped_ns.max(self.last_ns.unwrap_or(stopped_ns)))
    }

    /// A message to the source was refused: it may have ended as it should, and what it sent before is waiting.
    fn is_gone(&mut self, now_ns: i64, error: &io::Error) {
        if self.gone.is_none() {
            self.gone = Some((now_ns, error.to_string()));
        }
    }

    fn judge(&mut self, now_ns: i64, expected: &Expected) -> Verdict {
        if self.last_ns.is_some() || expected.begun_ns.load(Ordering::Relaxed) != NOT_YET {
            self.silence.lasts(now_ns);
        } else {
            self.silence = Silence::from(now_ns);
        }
        if let Some(drained_ns) = self.drained_ns {
            return if now_ns - drained_ns >= self.drain_ns.min(nanoseconds(LATE_AWAITED)) {
                Verdict::Over
            } else {
                Verdict::GoOn
            };
        }
        let Some(stopped_ns) = self.stopped_ns else { return self.judge_silence(now_ns, expected) };
        let complete = self.sent.is_some_and(|sent| self.counted.sequence.unique >= sent);
        let awaited_ns = self.drain_ns.min(if complete { nanoseconds(DUPLICATES_AWAITED) } else { i64::MAX });
        if now_ns - stopped_ns < awaited_ns {
            return Verdict::GoOn;
        }
        self.counted.sequence.finish(self.sent);
        if complete {
            return Verdict::Over;
        }
        self.drained_ns = Some(now_ns);
        Verdict::GoOn
    }

    /// Of a flow whose source has not reported that it stopped.
    fn judge_silence(&self, now_ns: i64, expected: &Expected) -> Verdict {
        if let Some((gone_ns, error)) = &self.gone
            && (now_ns - gone_ns).min(self.silence.seen_ns) > nanoseconds(GONE_AWAITED)
        {
            return Verdict::Broken(format!("its source is gone without a word: {error}"));
        }
        let silent_ns = self.silence.seen_ns;
        let stopped = now_ns.saturating_sub(self.drain_ns) > expected.stopped_ns.load(Ordering::Relaxed);
        let borne_ns = self.silence_ns.min(if stopped { nanoseconds(PAUSE_BORNE) } else { i64::MAX });
        if silent_ns < borne_ns {
            return Verdict::GoOn;
        }
        let silent = from_nanoseconds(silent_ns).as_secs_f64();
        Verdict::Broken(match self.last_ns {
            None => format!("no datagram was received within {silent:.1} s of the first of another flow"),
            Some(_) => format!("silent for {silent:.1} s, and its source never reported that it had stopped"),
        })
    }

    fn leave(mut self) {
        if self.drained_ns.is_none() {
            self.counted.sequence.finish(self.sent);
        }
        self.counted.leave(true);
    }
}

fn merged(one: Option<Delays>, other: Option<Delays>) -> Option<Delays> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.merged(other)),
        (one, other) => one.or(other),
    }
}
