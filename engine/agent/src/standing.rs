//! A standing point: an engine that others start by a key of theirs, and that does what its host's limits allow.

use std::{
    env,
    net::IpAddr,
    path::PathBuf,
    process::{self, ExitCode},
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use limits::{Admitted, Availability, Gate, Limits, Moment, Refusal, Who, is_name};
use traffic::{AddedTest, Control, Guard, Outbox, SampleBatch};
use wire::{Event, Failed, Phase, Prepare, Progress, Role};

/// What a trial whose time is over has to stop by itself, before its engine is ended.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// Who may do what.
#[derive(Args)]
pub struct Arguments {
    /// Carry out what the limits of this file allow, and nothing else: of whom, how fast, how long, how much and when.
    /// For a line of `authorized_keys`, as in
    /// `restrict,command="flowsweep-engine agent --limits /etc/flowsweep/limits.toml --name alice" ssh-ed25519 AAAA…`
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
    /// What the controller of this key is called: in refusals to others, and in the audit.
    #[arg(long, value_name = "NAME", requires = "limits", value_parser = name)]
    name: Option<String>,
}

/// Whose availability.
#[derive(Args)]
pub struct AvailabilityArguments {
    /// The limits file of the point.
    #[arg(long, value_name = "FILE")]
    limits: PathBuf,
    /// As one object of JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// The gate of a session, if it has limits.
    pub fn gate(self) -> Option<Arc<Gate>> {
        // The SSH server sets it: "client address, client port, server address, server port".
        let address = env::var("SSH_CONNECTION").ok();
        let address = address.and_then(|text| text.split_whitespace().next()?.parse::<IpAddr>().ok());
        let who = Who { name: self.name, address: address.map(|address| address.to_canonical()) };
        let resolve =
            |name: &str, port, family| traffic::resolve(name, port, family).map_err(|error| error.to_string());
        self.limits.map(|file| Arc::new(Gate::new(&file, who, resolve)))
    }
}

/// Says how busy a point is.
pub fn availability(arguments: &AvailabilityArguments) -> ExitCode {
    let limits = Limits::read(&arguments.limits).map_err(|error| error.to_string());
    let said = limits.and_then(|limits| Availability::of(&limits)).and_then(|availability| {
        if !arguments.json {
            return Ok(availability.to_string());
        }
        serde_json::to_string_pretty(&availability).map(|text| text + "\n").map_err(|error| error.to_string())
    });
    match said {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("flowsweep-engine: all trials are refused: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Carries one end of a trial out, if the limits admit it.
pub fn carry_out(
    gate: &Arc<Gate>,
    prepare: &Prepare,
    added: &'static [AddedTest],
    control: &Arc<Control>,
    outbox: &dyn Outbox,
) {
    let admitted = match gate.admit(prepare, &|| control.stopped()) {
        Ok(admitted) => admitted,
        Err(refusal) => return outbox.event(Event::Failed(refused(&prepare.trial, &refusal))),
    };
    let held = Arc::new(Held {
        admitted,
        control: Arc::downgrade(control),
        ended_for: OnceLock::new(),
        first: OnceLock::new(),
    });
    control.guard(Box::new(Checks(held.clone())));
    let stage = Stage::default();
    let watched = Watched { held: &held, stage: &stage, outbox, seen: Mutex::default() };
    thread::scope(|scope| {
        let watch = || held.watch(&stage, || held.admitted.open_for(Moment::now()));
        let _ends = Ends { stage: &stage, held: &held };
        match thread::Builder::new().name("limit".into()).spawn_scoped(scope, watch) {
            Ok(_) => traffic::carry_out(&held.admitted.prepare, added, control, &watched),
            Err(error) => {
                let refusal = Refusal::Broken(format!("cannot start a thread: {error}"));
                watched.event(Event::Failed(refused(&prepare.trial, &refusal)));
            }
        }
    });
}

/// As the controller gets it.
pub fn refused(trial: &str, refusal: &Refusal) -> Failed {
    Failed { trial: trial.into(), phase: Phase::Prepare, kind: refusal.kind().into(), message: refusal.to_string() }
}

fn name(text: &str) -> Result<String, String> {
    let expected = "expected 1 to 64 letters, digits, '.', '_', '-' or '@'";
    if is_name(text) { Ok(text.into()) } else { Err(expected.into()) }
}

/// An end that was admitted, and why it was ended, if it was.
struct Held {
    admitted: Admitted,
    /// It has this, as its guard.
    control: Weak<Control>,
    ended_for: OnceLock<&'static str>,
    /// When the first bytes had come of an end that asks whether it may carry more.
    first: OnceLock<Instant>,
}

impl Held {
    fn end(&self, reason: &'static str) {
        let _ = self.ended_for.set(reason);
        if let Some(control) = self.control.upgrade() {
            control.stop();
        }
    }

    /// Ends it if it takes too long. `open_for`: how long the times of the day last at which it may run.
    fn watch(&self, stage: &Stage, open_for: impl Fn() -> Option<Duration>) {
        let deadline = Instant::now() + self.admitted.longest();
        // Whose times they are is known once it is connected.
        let until = || open_for().map_or(deadline, |left| deadline.min(Instant::now() + left));
        stage.wait(At::Connected, until());
        if stage.wait(At::Running, until()) {
            // Here, since whoever hears of it must not wait for a file.
            self.admitted.runs();
        }
        // What has sent until then has its drain.
        let until = open_for().map_or(deadline, |left| deadline.min(Instant::now() + left + self.admitted.drain()));
        if stage.wait(At::Over, until) {
            return;
        }
        self.end(if until < deadline { CLOSED } else { "it took longer than its limits allow" });
        if !stage.wait(At::Over, Instant::now() + STOP_GRACE) {
            self.admitted.finish("ended_by_force", self.reason(), None);
            eprintln!("flowsweep-engine: a trial whose time was over did not stop");
            process::exit(1);
        }
    }

    fn end_for_bytes(&self) {
        let sends = self.admitted.prepare.role == Role::Source;
        self.end(if sends { TOO_MUCH_SENT } else { TOO_MUCH });
    }

    fn reason(&self) -> Option<&'static str> {
        self.ended_for.get().copied()
    }

    /// What the controller is told in place of "stopped".
    fn instead(&self, failed: Option<Failed>) -> Option<Failed> {
        let Some(reason) = self.reason() else { return failed };
        let message = format!("this standing point ended the trial: {reason}");
        let trial = self.admitted.prepare.trial.clone();
        Some(Failed { trial, phase: Phase::Run, kind: "point_limit".into(), message })
    }
}

const CLOSED: &str = "the times of the day are over at which it may run";
const TOO_MUCH: &str = "more came than was asked for, and so was allowed";
const TOO_MUCH_SENT: &str = "it handed over all that was reserved of a day's bytes before it was over";

/// Asked by the traffic.
struct Checks(Arc<Held>);

impl Guard for Checks {
    fn check_peer(&self, peer: IpAddr) -> Result<(), String> {
        self.0.admitted.check_peer(peer).map_err(|refusal| refusal.to_string())
    }

    fn may_carry(&self, bytes: u64) -> bool {
        let elapsed = if bytes > 0 { self.0.first.get_or_init(Instant::now).elapsed() } else { Duration::ZERO };
        let too_much = self.0.admitted.is_too_much(bytes, elapsed);
        if too_much {
            self.0.end_for_bytes();
        }
        !too_much
    }
}

/// Hears what an end tells its controller.
struct Watched<'a> {
    held: &'a Held,
    stage: &'a Stage,
    outbox: &'a dyn Outbox,
    seen: Mutex<Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    connected: bool,
    bytes: Option<u64>,
    /// When nothing had come yet, as an end said it last.
    empty_us: u64,
}

impl Outbox for Watched<'_> {
    fn event(&self, event: Event) {
        self.outbox.event(match event {
            Event::Connected(mut connected) => {
                self.seen(|seen| seen.connected = true);
                self.stage.reach(At::Connected);
                connected.granted.remarks.extend(self.held.admitted.remarks.iter().cloned());
                Event::Connected(connected)
            }
            Event::Progress(progress) => {
                self.look(&progress);
                Event::Progress(progress)
            }
            Event::Report(mut report) => {
                let counted: u64 = report.flows.iter().map(|flow| flow.bytes).sum();
                let bytes = Some(counted).filter(|_| !report.flows.is_empty()).or(self.seen(|seen| seen.bytes));
                report.incomplete = self.held.instead(report.incomplete);
                let failed = report.incomplete.as_ref();
                // Before others hear of it: whoever begins the next trial then finds the turn free.
                let outcome = if failed.is_some() { "incomplete" } else { "ok" };
                self.held.admitted.finish(outcome, failed.map(|failed| failed.message.as_str()), bytes);
                Event::Report(report)
            }
            Event::Failed(failed) => {
                let failed = self.held.instead(Some(failed.clone())).unwrap_or(failed);
                self.held.admitted.finish("failed", Some(&failed.message), self.bytes_of_failed());
                Event::Failed(failed)
            }
            other => other,
        });
    }

    fn samples(&self, stream: SampleBatch) {
        self.outbox.samples(stream);
    }
}

impl Watched<'_> {
    /// A sink is connected long before its source may start: until something has come it does not run.
    fn look(&self, progress: &Progress) {
        let empty_us = self.seen(|seen| {
            seen.bytes = Some(progress.bytes);
            if progress.bytes == 0 {
                seen.empty_us = progress.elapsed_us;
            }
            seen.empty_us
        });
        if progress.bytes == 0 {
            return;
        }
        self.stage.reach(At::Running);
        let held = self.held;
        let since = Duration::from_micros(progress.elapsed_us.saturating_sub(empty_us));
        if held.admitted.is_too_much(progress.bytes, since) {
            held.end_for_bytes();
        }
    }

    /// Nothing where nothing can have been sent; unknown where something may have been.
    fn bytes_of_failed(&self) -> Option<u64> {
        let seen = self.seen(|seen| *seen);
        let started = self.held.control.upgrade().is_none_or(|control| control.started());
        let begun = self.held.admitted.prepare.role == Role::Sink || started;
        if seen.connected && begun { seen.bytes } else { Some(0) }
    }

    fn seen<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        act(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The end of a trial, however it ends.
struct Ends<'a> {
    stage: &'a Stage,
    held: &'a Held,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.held.admitted.finish("unknown", self.held.reason(), None);
        self.stage.reach(At::Over);
    }
}

/// How far a trial is.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    #[default]
    Meeting,
    Connected,
    Running,
    Over,
}

#[derive(Default)]
struct Stage {
    at: Mutex<At>,
    changed: Condvar,
}

impl Stage {
    fn reach(&self, at: At) {
        let mut own = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        *own = at.max(*own);
        self.changed.notify_all();
    }

    /// Waits until it is as far; returns whether it was in time.
    fn wait(&self, at: At, deadline: Instant) -> bool {
        let own = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = deadline.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(own, longest, |own| *own < at);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= at
    }
}

#[cfg(test)]
mod tests;
