//! The asking end: one thread that sends what is due and hears what has come.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, Timespec, poll};
use sys::receive_datagram;
use wire::{ECHO_HEADER_BYTES, Echo, EchoMessage, RttSettings};

use super::{
    ask::{Asker, Chosen},
    ledger::Ledger,
    timetable::Timetable,
    watch::{Ran, Watch},
};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{END_ATTEMPTS, END_INTERVAL, STOP_CHECK},
    progress::ProgressTeller,
    rendezvous::{Rendezvous, wait_readable},
};

/// Asks for the duration, waits for the last answer, and tells the sink that it is over.
pub fn ask(
    task: &Task<'_, RttSettings>,
    chosen: Chosen<'_>,
    rendezvous: &Rendezvous,
    seen: &mut Watch,
    control: &Control,
    outbox: &dyn Outbox,
) -> Ran {
    let timeout = Duration::from_micros(task.settings.timeout_us);
    let mut asking = Asking {
        sized: chosen.echo != Echo::TcpConnect,
        asker: chosen.asker,
        timetable: Timetable::new(task.settings),
        ledger: Ledger::new(chosen.echo, timeout),
        bytes: 0,
        refusal: None,
    };
    let mut teller = ProgressTeller::new(task.trial, task.role, outbox);
    let mut incomplete = None;
    while let Some(pause) = asking.step(seen) {
        teller.tell_if_due(seen.origin.elapsed_ns(), || asking.bytes);
        if control.stopped() {
            incomplete = Some(TrialError::Stopped);
            break;
        }
        asking.wait(pause);
    }
    let Asking { asker, ledger, bytes, refusal, .. } = asking;
    let remark = asker.steps().and_then(|steps| steps.remark("have the time at which the engine saw them"));
    // What its connections and sockets still hold must not be answered any more.
    drop(asker);
    say_end(task, rendezvous);
    let (questions, answered) = ledger.counts();
    if answered == 0 {
        let reason = refusal.map(|error| error.to_string());
        incomplete = incomplete.or(Some(TrialError::NoAnswer { questions, reason }));
    }
    Ran { bytes, echoes: ledger.into_log(), remark, incomplete }
}

struct Asking<'a> {
    asker: Box<dyn Asker + 'a>,
    /// Questions have a size.
    sized: bool,
    timetable: Timetable,
    ledger: Ledger,
    bytes: u64,
    /// What the kernel said of the first question that it did not send.
    refusal: Option<io::Error>,
}

impl Asking<'_> {
    /// Does what is due; says how long nothing else is, or nothing once all is over.
    fn step(&mut self, seen: &mut Watch) -> Option<Duration> {
        let origin = seen.origin;
        let ledger = &mut self.ledger;
        self.asker.hear(ledger.first_open(), &mut |heard| {
            ledger.answer(heard.sequence, origin.ns_at(heard.arrived), origin.ns_at(heard.seen));
        });
        if let Some(size_bytes) = self.timetable.take_if_due(origin.elapsed_ns()) {
            self.ask_one(if self.sized { size_bytes } else { 0 }, seen);
        }
        let now_ns = seen.origin.elapsed_ns();
        seen.monitor.look_if_due(now_ns, std::iter::empty());
        let open = self.ledger.settle(now_ns);
        let due = self.timetable.due_in(now_ns);
        if open == 0 && due.is_none() {
            return None;
        }
        let given_up = self.ledger.due_in(now_ns);
        due.into_iter().chain(given_up).min().map(|pause| pause.min(STOP_CHECK))
    }

    fn ask_one(&mut self, size_bytes: u32, seen: &Watch) {
        let sequence = self.ledger.next_sequence();
        self.ledger.ask(size_bytes, seen.origin.elapsed_ns());
        // One that was not sent is not answered, and counts as lost.
        match self.asker.ask(sequence, size_bytes) {
            Ok(()) => self.bytes += u64::from(size_bytes),
            Err(error) => self.refusal = self.refusal.take().or(Some(error)),
        }
    }

    fn wait(&self, pause: Duration) {
        let mut watched: Vec<PollFd<'_>> = Vec::new();
        self.asker.watch(&mut watched);
        // An interrupted or failed poll only means looking once more.
        let _ = poll(&mut watched, Timespec::try_from(pause).ok().as_ref());
    }
}

/// Until the sink has seen it, or for long enough: it has a deadline of its own.
fn say_end(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous) {
    let mut end = [0; ECHO_HEADER_BYTES];
    EchoMessage::End.write(task.token, &mut end);
    let mut answer = [0; ECHO_HEADER_BYTES];
    for _ in 0..END_ATTEMPTS {
        // The sink may have gone: then nobody has to be told.
        let gone =
            matches!(rendezvous.socket.send(&end), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused);
        if gone {
            return;
        }
        let again = Instant::now() + END_INTERVAL;
        while wait_readable(&rendezvous.socket, again.saturating_duration_since(Instant::now())) {
            match receive_datagram(&rendezvous.socket, &mut answer) {
                Ok(_) if EchoMessage::read(task.answer, &answer) == Some(EchoMessage::EndSeen) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return,
                Err(_) => break,
            }
        }
    }
}
