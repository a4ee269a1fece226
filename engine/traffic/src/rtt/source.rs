//! The probing end: one thread that sends what is due and receives the responses.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, Timespec, poll};
use sys::receive_datagram;
use wire::{ECHO_HEADER_BYTES, Echo, EchoMessage, RttSettings};

use super::{
    outstanding_probes::OutstandingProbes,
    probe::{Chosen, Prober},
    probe_schedule::ProbeSchedule,
    watch::{Ran, Watch},
};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{END_ATTEMPTS, END_INTERVAL, STOP_CHECK},
    origin::Origin,
    progress::ProgressReporter,
    rendezvous::{Rendezvous, wait_readable},
};

/// Sends probes for the duration, waits for the last response, and tells the sink that it is over.
pub fn probe(
    task: &Task<'_, RttSettings>,
    chosen: Chosen<'_>,
    rendezvous: &Rendezvous,
    seen: &mut Watch,
    control: &Control,
    outbox: &dyn Outbox,
) -> Ran {
    let timeout = Duration::from_micros(task.settings.timeout_us);
    let mut probing = Probing {
        sized: chosen.echo != Echo::TcpConnect,
        prober: chosen.prober,
        schedule: ProbeSchedule::new(task.settings),
        outstanding: OutstandingProbes::new(chosen.echo, timeout),
        bytes: 0,
        refused: 0,
        refusal: None,
    };
    let mut reporter = ProgressReporter::new(task.trial, task.role, outbox);
    let mut incomplete = None;
    while let Some(pause) = probing.step(seen.origin, |now_ns, quiet, bytes| {
        seen.look_if_due(now_ns, quiet);
        reporter.report_if_due(now_ns, || bytes);
    }) {
        if control.stopped() {
            incomplete = Some(TrialError::Stopped);
            break;
        }
        probing.wait(pause);
    }
    let Probing { prober, outstanding, bytes, refused, refusal, .. } = probing;
    let of_clock = prober.steps().and_then(|steps| steps.remark("have the time at which the engine saw them"));
    let of_refused = refusal
        .as_ref()
        .map(|error| format!("probes that were not sent count as lost, though not by the path: {refused} ({error})"));
    let remarks = of_clock.into_iter().chain(of_refused).collect();
    // What its connections and sockets still hold must not be answered any more.
    drop(prober);
    say_end(task, rendezvous);
    let (probes, answered) = outstanding.counts();
    if answered == 0 {
        let reason = refusal.map(|error| error.to_string());
        incomplete = incomplete.or(Some(TrialError::NoAnswer { probes, reason }));
    }
    Ran { bytes, echoes: outstanding.into_log(), remarks, incomplete }
}

struct Probing<'a> {
    prober: Box<dyn Prober + 'a>,
    /// Probes have a size.
    sized: bool,
    schedule: ProbeSchedule,
    outstanding: OutstandingProbes,
    bytes: u64,
    /// Probes that the kernel did not send.
    refused: u64,
    /// The error for the first of them.
    refusal: Option<io::Error>,
}

impl Probing<'_> {
    /// Does what is due; returns how long nothing else is due, or `None` once all is over.
    ///
    /// # Arguments
    /// `aside`: does what is no part of probing, before a probe is sent: right after that, it would keep this thread
    /// from the response, which has the time at which it is seen where the kernel stamps none. It is told the time,
    /// whether no response is awaited, and how many bytes were sent.
    fn step(&mut self, origin: Origin, aside: impl FnOnce(i64, bool, u64)) -> Option<Duration> {
        let outstanding = &mut self.outstanding;
        self.prober.receive(outstanding.first_outstanding(), &mut |response| {
            outstanding.answered(response.sequence, origin.ns_at(response.arrived), origin.ns_at(response.seen));
        });
        let now_ns = origin.elapsed_ns();
        aside(now_ns, self.outstanding.settle(now_ns) == 0, self.bytes);
        if let Some(size_bytes) = self.schedule.take_if_due(origin.elapsed_ns()) {
            self.send_probe(if self.sized { size_bytes } else { 0 }, origin);
        }
        let now_ns = origin.elapsed_ns();
        let open = self.outstanding.settle(now_ns);
        let due = self.schedule.due_in(now_ns);
        if open == 0 && due.is_none() {
            return None;
        }
        let given_up = self.outstanding.due_in(now_ns);
        due.into_iter().chain(given_up).min().map(|pause| pause.min(STOP_CHECK))
    }

    fn send_probe(&mut self, size_bytes: u32, origin: Origin) {
        let sequence = self.outstanding.next_sequence();
        self.outstanding.sent(size_bytes, origin.elapsed_ns());
        // A probe that was not sent is not answered, and counts as lost.
        match self.prober.send(sequence, size_bytes) {
            Ok(()) => self.bytes += u64::from(size_bytes),
            Err(error) => {
                self.refused += 1;
                self.refusal = self.refusal.take().or(Some(error));
            }
        }
    }

    fn wait(&self, pause: Duration) {
        let mut watched: Vec<PollFd<'_>> = Vec::new();
        self.prober.watch(&mut watched);
        // An interrupted or failed poll only means looking once more.
        let _ = poll(&mut watched, Timespec::try_from(pause).ok().as_ref());
    }
}

/// Repeats the end until the sink has acknowledged it, or for long enough: the sink has a deadline of its own.
fn say_end(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous) {
    let mut end = [0; ECHO_HEADER_BYTES];
    EchoMessage::End.write(task.token, &mut end);
    let mut response = [0; ECHO_HEADER_BYTES];
    for _ in 0..END_ATTEMPTS {
        // The sink may have gone: then there is nobody to notify.
        let gone =
            matches!(rendezvous.socket.send(&end), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused);
        if gone {
            return;
        }
        let again = Instant::now() + END_INTERVAL;
        while wait_readable(&rendezvous.socket, again.saturating_duration_since(Instant::now())) {
            match receive_datagram(&rendezvous.socket, &mut response) {
                Ok(_) if EchoMessage::read(task.answer, &response) == Some(EchoMessage::EndSeen) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return,
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::probe::prober::Response, *};

    /// Answers at once; when that is seen is up to whoever receives.
    struct AtOnce(Vec<u64>);

    impl Prober for AtOnce {
        fn send(&mut self, sequence: u64, _: u32) -> io::Result<()> {
            self.0.push(sequence);
            Ok(())
        }

        fn receive(&mut self, _: u64, received: &mut dyn FnMut(Response)) {
            for sequence in self.0.drain(..) {
                let seen = Instant::now();
                received(Response { sequence, arrived: seen, seen });
            }
        }

        fn watch<'a>(&'a self, _: &mut Vec<PollFd<'a>>) {}
    }

    #[test]
    fn what_takes_long_aside_of_probing_is_in_no_round_trip() {
        let settings = RttSettings {
            echo: Echo::TcpConnect,
            sizes_bytes: vec![64],
            every_us: 10_000,
            poisson: false,
            seed: 1,
            duration_us: 300_000,
            timeout_us: 1_000_000,
            connect_timeout_us: 1_000_000,
            dscp: None,
            family: None,
        };
        let mut probing = Probing {
            prober: Box::new(AtOnce(Vec::new())),
            sized: false,
            schedule: ProbeSchedule::new(&settings),
            outstanding: OutstandingProbes::new(Echo::TcpConnect, Duration::from_secs(1)),
            bytes: 0,
            refused: 0,
            refusal: None,
        };
        let origin = Origin::now();
        let mut looks = 0;
        // A look that costs 5 ms, whenever a probe is due: all of them wait for one.
        let mut look = |_: i64, quiet: bool, _: u64| {
            if quiet {
                std::thread::sleep(Duration::from_millis(5));
                looks += 1;
            }
        };
        while let Some(pause) = probing.step(origin, &mut look) {
            // As with a response that ends the wait.
            if probing.outstanding.due_in(origin.elapsed_ns()).is_none() {
                std::thread::sleep(pause);
            }
        }
        let rows = probing.outstanding.into_log().into_rows().unwrap().1;
        let mut rtts: Vec<i64> = rows.map(|row| row.unwrap().rtt_ns.unwrap()).collect();
        rtts.sort_unstable();
        assert!(looks >= rtts.len() && rtts.len() > 5, "{looks} looks, {} probes", rtts.len());
        assert!(rtts[rtts.len() / 2] < 1_000_000, "{rtts:?} ns");
    }
}
