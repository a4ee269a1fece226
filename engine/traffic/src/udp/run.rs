//! How a trial of datagrams between two engines goes.

use std::{
    collections::BTreeMap,
    slice,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
    thread::Scope,
    time::Duration,
};

use wire::{DatagramKind, RejectedConnections, Role, UdpSettings, defaults::START_TIMEOUT};

use super::{
    listen::Listener,
    packet_format::Ours,
    repeats::Repeats,
    sampler::Sampler,
    silence::silence_of,
    sink::{self, Expected, NOT_YET, Room},
    source,
    stream::{UdpFlow, UdpFlows},
};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Coordinator, Procedure, Running, Side, Sides},
    defaults::{
        DUPLICATES_AWAITED, END_MARK_INTERVAL, END_MARK_INTERVAL_LATER, END_MARKS, END_MARKS_QUICK, LATE_AWAITED,
        PAUSE_BORNE, SINK_SLACK,
    },
    halt::Halt,
    host::{Counters, Observed},
    threads::{spawn, spawn_once},
    time::nanoseconds,
};

/// The kernel's counters that rise when it drops a datagram since a socket is full, each of IPv4 and of IPv6.
const DROPS_OF_SOCKETS: [[&str; 2]; 2] = [["Udp.RcvbufErrors", "Udp6RcvbufErrors"], ["Udp.InErrors", "Udp6InErrors"]];

/// What a trial's end leaves behind.
pub struct Ran {
    /// The samples of all flows, and what became of their datagrams.
    pub sampler: Sampler,
    /// What the host did meanwhile.
    pub observed: Observed,
    /// What the listening port received from others meanwhile.
    pub rejected: RejectedConnections,
    /// Why the trial is not whole at this end, but for flows that broke.
    pub incomplete: Option<TrialError>,
}

/// What the threads of this end work with.
pub enum End {
    /// `gso`: the kernel cuts what is sent (`UDP_SEGMENT`).
    Source { gso: bool },
    /// What they receive into.
    Sink(Vec<Room>),
}

/// Runs all flows to their end, at the latest until the deadlines of the settings. `counters` are the host's, read before
/// any flow could send.
pub fn run(
    flows: &UdpFlows,
    task: &Task<'_, UdpSettings>,
    end: End,
    listener: Option<&Listener>,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran, TrialError> {
    let settings = task.settings;
    let interval = Duration::from_micros(settings.sample_interval_us);
    let expected = Expected { begun_ns: AtomicI64::new(NOT_YET), stopped_ns: AtomicI64::new(NOT_YET) };
    let sampler = Sampler::new(task.role, flows.all.len(), settings.length_bytes);
    let mut side = Side::begin(task, flows, sampler, interval, counters, outbox);
    let running = Running::none(flows.all.len());
    let repeats = Repeats::new(flows.all.len(), silence_of(settings));
    let mut procedure = Engines { role: task.role, settings, expected: &expected, running, repeats };
    let rejected = OnceLock::new();
    let (counted, expecting) = (&rejected, &expected);
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), move |scope| {
        spawn_all(scope, flows, task, end, expecting)?;
        if let Some(listener) = listener {
            let over = || flows.wait_all_ended(Duration::ZERO) || flows.aborted().is_some();
            spawn_once(scope, move || counted.set(listener.count_rejected(over)))?;
        }
        Ok(())
    })?;
    let mut observed = side.monitor.end(flows.now_ns(), flows.meters());
    let rejected = rejected.get().copied().unwrap_or_default();
    leave_out(rejected.crowded_out.into(), &mut observed.counters);
    Ok(Ran { sampler: side.sampler, observed, rejected, incomplete })
}

/// Datagrams of others that the kernel dropped are no loss of the trial: they count as rejected alone.
fn leave_out(dropped: u64, counters: &mut BTreeMap<String, u64>) {
    for [of_v4, of_v6] in DROPS_OF_SOCKETS {
        let mut left = dropped;
        for name in [of_v4, of_v6] {
            if let Some(count) = counters.get_mut(name) {
                let theirs = left.min(*count);
                left -= theirs;
                *count -= theirs;
            }
        }
    }
    counters.retain(|_, count| *count > 0);
}

fn spawn_all<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flows: &'scope UdpFlows,
    task: &'scope Task<'scope, UdpSettings>,
    end: End,
    expected: &'scope Expected,
) -> Result<(), TrialError> {
    let settings = task.settings;
    let rooms = match end {
        End::Source { gso } => return source::spawn_all::<Ours>(scope, flows, settings, gso),
        End::Sink(rooms) => rooms,
    };
    for (flow, room) in flows.all.iter().zip(rooms) {
        spawn(scope, flow, flows, &settings.cpus, move || {
            sink::receive(flow, flows, expected, settings, room);
        })?;
    }
    Ok(())
}

/// Two engines: what one has to know of the other is sent in datagrams, which may be lost.
struct Engines<'a> {
    role: Role,
    settings: &'a UdpSettings,
    expected: &'a Expected,
    running: Running,
    /// When a sink reports again which flows run.
    repeats: Repeats,
}

impl Procedure for Engines<'_> {
    type Sampler = Sampler;

    /// The sink's application must have received from every flow that has not broken; it reports that in a datagram. From
    /// then on the duration counts, so that the sink sees all flows for the whole of it.
    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32> {
        let runs = |flow: &UdpFlow| {
            if let Some(begun_ns) = flow.first_byte_ns() {
                self.expected.begun_ns.fetch_min(begun_ns, Ordering::Relaxed);
            }
            match self.role {
                Role::Sink => flow.first_byte_ns().is_some(),
                Role::Source => source::received(flow, DatagramKind::Running),
            }
        };
        let stands = |flow: &UdpFlow| flow.ending().is_none();
        sides.iter().find_map(|side| self.running.first_missing(side.flows, stands, runs))
    }

    fn wait_on(&mut self, sides: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError> {
        let silence = silence_of(self.settings);
        match self.role {
            Role::Source if waited >= silence => {
                let within = silence.as_secs_f64();
                for flow in sides.iter().flat_map(|side| self.running.missing(side.flows)) {
                    flow.connection.fail(format!("its sink reported no datagram within {within} s"));
                }
                Ok(())
            }
            Role::Sink if self.running.is_none() && waited >= START_TIMEOUT + silence => {
                Err(TrialError::NotRunning { flow, timeout: START_TIMEOUT + silence })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, now_ns: i64) -> Duration {
        let sending = Duration::from_micros(self.settings.duration_us.saturating_add(self.settings.pad_us));
        match self.role {
            Role::Source => sending,
            Role::Sink => {
                let stopped_ns = now_ns.saturating_add(nanoseconds(sending + SINK_SLACK));
                self.expected.stopped_ns.store(stopped_ns, Ordering::Relaxed);
                sending + SINK_SLACK
            }
        }
    }

    /// A sink's word that a flow runs may be lost.
    fn look(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), TrialError> {
        for side in sides.iter().filter(|side| side.role == Role::Sink) {
            let now_ns = side.flows.now_ns();
            for (place, flow) in side.flows.all.iter().enumerate() {
                let due = |first_ns| self.repeats.take_if_due(place, first_ns, now_ns);
                let goes_on = || flow.ending().is_none() && flow.connection.tally().ended_ns.is_none();
                if flow.first_byte_ns().is_some_and(due) && goes_on() {
                    flow.connection.say(DatagramKind::Running, 0);
                }
            }
        }
        Ok(())
    }

    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError> {
        coordinator.sides.iter().for_each(|side| side.flows.stop_sending());
        coordinator.drain(match coordinator.procedure.role {
            Role::Source => {
                let later = END_MARK_INTERVAL_LATER * (END_MARKS - END_MARKS_QUICK);
                END_MARK_INTERVAL * END_MARKS_QUICK + later + PAUSE_BORNE
            }
            Role::Sink => {
                let drain = Duration::from_micros(coordinator.procedure.settings.drain_us);
                drain + DUPLICATES_AWAITED + LATE_AWAITED + 2 * PAUSE_BORNE
            }
        })
    }

    /// A source counts the duration from when it knows that all flows run, which a sink has known before: at a sink
    /// every flow lasts longer than the duration, broke, or was cut off.
    fn first_early(&self, sides: &Sides<'_, Self>) -> Option<TrialError> {
        let due = Duration::from_micros(self.settings.duration_us);
        sides.iter().filter(|side| side.role == Role::Sink).find_map(|side| {
            let all_run_ns = side.flows.all.iter().filter_map(UdpFlow::first_byte_ns).max()?;
            side.first_early(all_run_ns, due)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_of_others_that_are_dropped_are_no_loss_of_the_trial() {
        let all = [("Udp.RcvbufErrors", 5), ("Udp6RcvbufErrors", 3), ("Udp.InErrors", 6), ("Udp.NoPorts", 1)];
        let mut counters = all.map(|(name, count)| (name.to_owned(), count)).into();
        leave_out(6, &mut counters);
        let left = [("Udp.NoPorts", 1), ("Udp6RcvbufErrors", 2)];
        assert_eq!(counters, left.map(|(name, count)| (name.to_owned(), count)).into());
    }
}
