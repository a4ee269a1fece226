//! One session: requests in, trials carried out, events out. Ends its traffic when its input ends.

use std::{
    any::Any,
    collections::{HashMap, hash_map::Entry},
    io::{self, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use limits::Gate;
use traffic::{AddedTest, Control, Outbox};
use wire::{ClockReading, Event, Failed, Hello, PROTOCOL, Phase, Prepare, Request, Role};

use crate::{
    controller::Requests,
    facts::{PEERS_MAX, host_facts},
    outbox::FrameWriter,
    standing,
};

/// Once the session is over: how long trials and descriptions may take to end, and their last events to be written.
const TEARDOWN: Duration = Duration::from_secs(1);

/// How far ahead a common start may be: a controller whose idea of this host's clock is wrong must not stall it.
const START_AHEAD_MAX: Duration = Duration::from_secs(5);

type Trials = Arc<Mutex<HashMap<(String, Role), Arc<Control>>>>;

/// Descriptions of its host that a controller may ask for at once where there are limits: each is a thread, which may look
/// names up.
const DESCRIPTIONS_MAX: usize = 4;

/// Ends of trials that a controller may have at once where there are limits.
const ENDS_MAX: usize = 256;

/// Serves one controller until `input` ends.
///
/// # Arguments
/// `added`: tests of other crates; `gate`: the limits of a standing point, if it is one.
///
/// # Errors
/// When the stream breaks or carries something other than frames, or the controller says nothing any more.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    added: &'static [AddedTest],
    gate: Option<&Arc<Gate>>,
) -> io::Result<()> {
    let outbox = Arc::new(FrameWriter::open(output)?);
    outbox.event(Event::Hello(Hello {
        protocol: PROTOCOL,
        engine_version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
    }));
    let trials = Trials::default();
    let mut descriptions = Vec::new();
    let mut requests = Requests::read(input)?;
    let outcome = loop {
        match outbox.wait_for_room().and_then(|()| requests.next()) {
            Ok(Some(Ok(request))) => handle(request, added, gate, &trials, &mut descriptions, &outbox),
            Ok(Some(Err(message))) => outbox.event(Event::Refused { message }),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    end_all(&trials, &descriptions);
    outbox.flush(TEARDOWN);
    outcome
}

fn handle(
    request: Request,
    added: &'static [AddedTest],
    gate: Option<&Arc<Gate>>,
    trials: &Trials,
    descriptions: &mut Vec<JoinHandle<()>>,
    outbox: &Arc<FrameWriter>,
) {
    match request {
        Request::Describe { peers } if peers.len() > PEERS_MAX => {
            let message = format!("found {} peers of a description, expected at most {PEERS_MAX}", peers.len());
            outbox.event(Event::Refused { message });
        }
        Request::Describe { peers } => {
            descriptions.retain(|thread| !thread.is_finished());
            if gate.is_some() && descriptions.len() >= DESCRIPTIONS_MAX {
                let message = format!("more than {DESCRIPTIONS_MAX} descriptions of this standing point at once");
                return outbox.event(Event::Refused { message });
            }
            descriptions.extend(describe(peers, outbox));
        }
        // That it was said is all.
        Request::Alive => {}
        Request::Clock { number } => outbox.event(Event::Clock(ClockReading { number, unix_ns: unix_ns() })),
        Request::Prepare(prepare) => begin(*prepare, added, gate, trials, outbox),
        Request::Start { trial, at_unix_ns } => {
            let pause = at_unix_ns.map_or(0, |at_unix_ns| at_unix_ns.saturating_sub(unix_ns()));
            let begin = Instant::now() + Duration::from_nanos(u64::try_from(pause).unwrap_or(0)).min(START_AHEAD_MAX);
            for_each_end(trials, &trial, |control| control.start(begin));
        }
        Request::Stop { trial } => for_each_end(trials, &trial, Control::stop),
    }
}

/// On a thread of its own: while names are resolved, clock and stop must not wait. None if it cannot be started.
fn describe(peers: Vec<String>, outbox: &Arc<FrameWriter>) -> Option<JoinHandle<()>> {
    let out = outbox.clone();
    let body = move || {
        out.event(match catch_unwind(|| host_facts(&peers)) {
            Ok(facts) => Event::HostFacts(Box::new(facts)),
            Err(panic) => Event::Refused { message: format!("cannot describe the host: {}", panic_text(&*panic)) },
        });
    };
    let started = thread::Builder::new().name("describe".into()).spawn(body);
    let refused = |error| outbox.event(Event::Refused { message: format!("cannot start a thread: {error}") });
    started.map_err(refused).ok()
}

fn begin(
    prepare: Prepare,
    added: &'static [AddedTest],
    gate: Option<&Arc<Gate>>,
    trials: &Trials,
    outbox: &Arc<FrameWriter>,
) {
    if let Some(gate) = gate.filter(|_| lock(trials).len() >= ENDS_MAX) {
        let refusal = gate.refuse_one_of(ENDS_MAX, &prepare);
        return outbox.event(Event::Failed(standing::refused(&prepare.trial, &refusal)));
    }
    let key = (prepare.trial.clone(), prepare.role);
    let control = Arc::new(Control::default());
    match lock(trials).entry(key.clone()) {
        Entry::Occupied(_) => {
            let message = format!("trial {} is being carried out already", prepare.trial);
            return outbox.event(Event::Refused { message });
        }
        Entry::Vacant(place) => place.insert(control.clone()),
    };
    let (ended, out) = (trials.clone(), outbox.clone());
    let unstarted = key.clone();
    let gate = gate.cloned();
    let body = move || {
        let carry_out = || match &gate {
            Some(gate) => standing::carry_out(gate, &prepare, added, &control, &*out),
            None => traffic::carry_out(&prepare, added, &control, &*out),
        };
        let carried = catch_unwind(AssertUnwindSafe(carry_out));
        if let Err(panic) = carried {
            out.event(Event::Failed(broken(&prepare.trial, "panic", &panic_text(&*panic))));
        }
        lock(&ended).remove(&key);
    };
    // Not the trial's own name: a thread's name has no NUL.
    if let Err(error) = thread::Builder::new().name("trial".into()).spawn(body) {
        lock(trials).remove(&unstarted);
        outbox.event(Event::Failed(broken(&unstarted.0, "thread", &format!("cannot start a thread: {error}"))));
    }
}

fn for_each_end(trials: &Trials, trial: &str, act: impl Fn(&Control)) {
    // A trial that has ended in the meantime needs neither start nor stop.
    for (_, control) in lock(trials).iter().filter(|((name, _), _)| name == trial) {
        act(control);
    }
}

fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn end_all(trials: &Trials, descriptions: &[JoinHandle<()>]) {
    lock(trials).values().for_each(|control| control.stop());
    let deadline = Instant::now() + TEARDOWN;
    let ended = || lock(trials).is_empty() && descriptions.iter().all(JoinHandle::is_finished);
    while !ended() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
}

fn lock(trials: &Trials) -> std::sync::MutexGuard<'_, HashMap<(String, Role), Arc<Control>>> {
    // The map is never left half-changed.
    trials.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(trial: &str, kind: &str, message: &str) -> Failed {
    Failed { trial: trial.into(), phase: Phase::Run, kind: kind.into(), message: message.into() }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    format!("the engine failed: {}", text.unwrap_or_else(|| "no reason given".into()))
}

#[cfg(test)]
mod tests {
    use wire::{FrameKind, HEADER_BYTES};

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn frame(request: &Request) -> Vec<u8> {
        wire::encode(FrameKind::Json, &serde_json::to_vec(request).unwrap()).unwrap()
    }

    fn answers(input: &[u8]) -> (io::Result<()>, Vec<Event>) {
        let output = Output::default();
        let outcome = serve(io::Cursor::new(input.to_vec()), output.clone(), &[], None);
        let bytes = output.0.lock().unwrap().clone();
        let mut rest = bytes.strip_prefix(wire::MAGIC).unwrap();
        let mut events = Vec::new();
        while let Some((header, body)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let (_, length) = wire::decode_header(*header).unwrap();
            events.push(serde_json::from_slice(&body[..length]).unwrap());
            rest = &body[length..];
        }
        (outcome, events)
    }

    #[test]
    fn a_session_says_hello_and_describes_its_host() {
        let (outcome, events) = answers(&frame(&Request::Describe { peers: vec![] }));
        assert!(outcome.is_ok());
        assert!(matches!(&events[0], Event::Hello(hello) if hello.protocol == PROTOCOL));
        assert!(matches!(&events[1], Event::HostFacts(facts) if !facts.kernel.is_empty()));
    }

    #[test]
    fn a_description_with_more_peers_than_any_plan_has_is_refused() {
        let peers = |count| Request::Describe { peers: vec!["::1".into(); count] };
        let (outcome, events) = answers(&[frame(&peers(PEERS_MAX + 1)), frame(&peers(PEERS_MAX))].concat());
        assert!(outcome.is_ok());
        let said = "found 1025 peers of a description, expected at most 1024";
        assert!(matches!(&events[1], Event::Refused { message } if message == said), "{:?}", events[1]);
        assert!(matches!(&events[2], Event::HostFacts(_)), "{:?}", events[2]);
    }

    #[test]
    fn a_trial_may_have_any_name() {
        let prepare = Prepare {
            trial: "a\0b".into(),
            role: Role::Sink,
            token: wire::Token([1; 16]),
            answer: wire::Token([2; 16]),
            rendezvous: wire::RendezvousRole::Listen { bind: None, ports: None },
            test: serde_json::from_str(r#"{"type": "added", "name": "unknown", "settings": null}"#).unwrap(),
            iperf3: None,
        };
        let mut input = frame(&Request::Prepare(Box::new(prepare)));
        input.extend(frame(&Request::Clock { number: 7 }));
        let (outcome, events) = answers(&input);
        assert!(outcome.is_ok());
        assert!(events.iter().any(|event| matches!(event, Event::Clock(reading) if reading.number == 7)));
        assert!(events.iter().any(|event| matches!(event, Event::Failed(failed) if failed.trial == "a\0b")));
    }

    #[test]
    fn a_request_it_does_not_know_is_refused_and_the_session_goes_on() {
        let mut input = wire::encode(FrameKind::Json, br#"{"type":"dance"}"#).unwrap();
        input.extend(frame(&Request::Describe { peers: vec![] }));
        let (outcome, events) = answers(&input);
        assert!(outcome.is_ok());
        assert!(matches!(&events[1], Event::Refused { message } if message.contains("dance")));
        assert!(matches!(&events[2], Event::HostFacts(_)));
    }

    #[test]
    fn no_moment_to_begin_at_ends_the_session() {
        let moments = [i64::MIN, i64::MAX].map(|moment| Request::Start { trial: "t".into(), at_unix_ns: Some(moment) });
        let mut input: Vec<u8> = moments.iter().flat_map(frame).collect();
        input.extend(frame(&Request::Clock { number: 7 }));
        let (outcome, events) = answers(&input);
        assert!(outcome.is_ok());
        assert!(matches!(&events[1], Event::Clock(reading) if reading.number == 7));
    }

    #[test]
    fn a_stream_that_is_no_frame_ends_the_session() {
        let (outcome, events) = answers(b"GET / HTTP/1.1\r\n");
        assert!(outcome.is_err());
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn a_torn_frame_ends_the_session_quietly() {
        let whole = frame(&Request::Describe { peers: vec![] });
        let (outcome, events) = answers(&whole[..whole.len() - 1]);
        assert!(outcome.is_ok());
        assert_eq!(events.len(), 1);
    }
}
