//! An engine that has one test more, the toy noop: two ends meet, stay for a while, and part.

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;
use traffic::{AddedTest, Control, Outbox, Rendezvous, RendezvousParameters, Task, TrialError, meet};
use wire::{Connected, Event, Granted, RejectedConnections, Report, Role};

const END: &[u8] = b"end";
const STEP: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    agent::run(&[AddedTest { name: "noop", carry_out }])
}

fn carry_out(task: &Task<'_, Value>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    let timeout = microseconds(task, "connect_timeout_us")?;
    let family = task.settings.get("family").and_then(Value::as_u64).and_then(|family| u8::try_from(family).ok());
    let parameters = RendezvousParameters { family, dscp: None, timeout };
    let (rendezvous, _) = meet(task, &parameters, control, outbox, |_| Ok(()))?;
    outbox.event(Event::Connected(Connected {
        trial: task.trial.into(),
        role: task.role,
        granted: Granted::default(),
    }));
    let stay = microseconds(task, "duration_us")?;
    match task.role {
        Role::Source => {
            rendezvous.wait_for_start(control)?;
            let origin = SystemTime::now();
            wait(control, stay, || false)?;
            // A lost one is not missed: the sink stays no longer than it must.
            let _ = rendezvous.socket.send(END);
            report(task, origin, outbox);
        }
        Role::Sink => {
            let origin = SystemTime::now();
            wait(control, stay + timeout, || has_ended(&rendezvous))?;
            report(task, origin, outbox);
        }
    }
    Ok(())
}

fn microseconds(task: &Task<'_, Value>, key: &str) -> Result<Duration, TrialError> {
    let value = task.settings.get(key).and_then(Value::as_u64);
    let missing = || TrialError::Settings(format!("noop: found no {key}, expected whole microseconds"));
    value.map(Duration::from_micros).ok_or_else(missing)
}

fn wait(control: &Control, longest: Duration, is_over: impl Fn() -> bool) -> Result<(), TrialError> {
    let deadline = Instant::now() + longest;
    while Instant::now() < deadline && !is_over() {
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        thread::sleep(STEP.min(deadline.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

fn has_ended(rendezvous: &Rendezvous) -> bool {
    let mut buffer = [0; 64];
    while let Ok(length) = rendezvous.socket.recv(&mut buffer) {
        let received = buffer.get(..length).unwrap_or(&buffer);
        if !rendezvous.answer_opening(received) && received == END {
            return true;
        }
    }
    false
}

fn report(task: &Task<'_, Value>, origin: SystemTime, outbox: &dyn Outbox) {
    let since = origin.duration_since(UNIX_EPOCH).unwrap_or_default();
    outbox.event(Event::Report(Box::new(Report {
        trial: task.trial.into(),
        role: task.role,
        origin_unix_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        flows: Vec::new(),
        rejected_connections: RejectedConnections::default(),
        table_rows: [].into(),
        rows_lost: 0,
        counters: [].into(),
        throttled_us: None,
        far_side: None,
        remarks: vec!["nothing was measured".into()],
        decided: None,
        incomplete: None,
    })));
}
