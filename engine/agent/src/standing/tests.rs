//! What a standing point does with one end of a trial, without traffic.

use std::{fs, path::Path, thread};

use wire::{Echo, RendezvousRole, RttSettings, Test, Token};

use super::*;

/// A sink of a probe of 64 B each millisecond, which was admitted.
fn held(folder: &Path, control: &Arc<Control>) -> Held {
    let (file, path) = (folder.join("limits.toml"), folder.display());
    let rule = "[[rule]]\nname = 'all'\npeers = ['::/0']\n";
    fs::write(&file, format!("state = '{path}'\naudit = '{path}/audit'\n{rule}")).unwrap();
    let settings = RttSettings {
        echo: Echo::Udp,
        sizes_bytes: vec![64],
        every_us: 1000,
        poisson: true,
        seed: 1,
        duration_us: 60_000_000,
        timeout_us: 1_000_000,
        connect_timeout_us: 1_000_000,
        dscp: None,
        family: None,
    };
    let prepare = Prepare {
        trial: "t".into(),
        role: Role::Sink,
        token: Token([1; 16]),
        answer: Token([2; 16]),
        rendezvous: RendezvousRole::Listen { bind: None, ports: None },
        test: Test::Rtt(settings),
        iperf3: None,
    };
    let gate = Gate::new(&file, Who::default(), |_, _, _| Err("no name".into()));
    let admitted = gate.admit(&prepare, &|| false).unwrap_or_else(|refusal| panic!("{refusal}"));
    Held { admitted, control: Arc::downgrade(control), ended_for: OnceLock::new(), first: OnceLock::new() }
}

#[test]
fn probes_that_come_too_fast_end_the_trial_of_a_sink() {
    let folder = tempfile::tempdir().unwrap();
    let control = Arc::new(Control::default());
    let checks = Checks(Arc::new(held(folder.path(), &control)));
    // Of 2 s twice as many as in the mean, and 100.
    let at_once = 64 * (2 * 2000 + 100);
    assert!(checks.may_carry(0) && checks.may_carry(at_once) && !control.stopped());
    assert!(checks.0.admitted.bytes_max().is_some_and(|most| most > 10 * at_once));
    assert!(!checks.may_carry(10 * at_once) && control.stopped());
    assert_eq!(checks.0.reason(), Some(TOO_MUCH));
}

struct Unheard;

impl Outbox for Unheard {
    fn event(&self, _: Event) {}

    fn samples(&self, _: SampleBatch) {}
}

#[test]
fn a_sink_runs_once_something_has_come() {
    let folder = tempfile::tempdir().unwrap();
    let control = Arc::new(Control::default());
    let (held, stage) = (held(folder.path(), &control), Stage::default());
    let watched = Watched { held: &held, stage: &stage, outbox: &Unheard, seen: Mutex::default() };
    let progress = |elapsed_s: u64, bytes| {
        let (trial, elapsed_us) = ("t".into(), elapsed_s * 1_000_000);
        watched.event(Event::Progress(Progress { trial, role: Role::Sink, elapsed_us, bytes }));
    };
    progress(57, 0);
    progress(58, 0);
    assert!(!stage.wait(At::Running, Instant::now()), "its source waits for its start");
    // Of 1 s, and of 2 s ahead of time, twice as many as in the mean, and 100.
    let most = 64 * (2 * 3000 + 100);
    progress(59, most);
    assert!(stage.wait(At::Running, Instant::now()) && !control.stopped());
    progress(59, most + 1);
    assert!(control.stopped(), "the time before its first bytes counts for nothing");
    assert_eq!(held.reason(), Some(TOO_MUCH));
}

#[test]
fn a_trial_ends_when_the_times_of_its_peers_are_over() {
    let folder = tempfile::tempdir().unwrap();
    let control = Arc::new(Control::default());
    let (held, stage) = (held(folder.path(), &control), Stage::default());
    let connected = || *stage.at.lock().unwrap() >= At::Connected;
    thread::scope(|scope| {
        scope.spawn(|| held.watch(&stage, || connected().then_some(Duration::from_millis(50))));
        thread::sleep(Duration::from_millis(100));
        assert!(!control.stopped());
        stage.reach(At::Connected);
        let deadline = Instant::now() + Duration::from_secs(10);
        while !control.stopped() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(held.reason(), Some(CLOSED));
        stage.reach(At::Over);
    });
}

#[test]
fn a_stage_is_waited_for_until_a_deadline() {
    let stage = Stage::default();
    let soon = || Instant::now() + Duration::from_millis(20);
    assert!(stage.wait(At::Meeting, Instant::now()) && !stage.wait(At::Running, soon()));
    stage.reach(At::Running);
    assert!(stage.wait(At::Running, soon()) && !stage.wait(At::Over, soon()));
    thread::scope(|scope| {
        scope.spawn(|| stage.reach(At::Over));
        assert!(stage.wait(At::Over, Instant::now() + Duration::from_secs(10)));
    });
    stage.reach(At::Running);
    assert!(stage.wait(At::Over, Instant::now()), "what is over does not run again");
}
