//! A trial whose far side is an iperf3 server: check, be let in, open streams, run, exchange results, report. One test of
//! the server's carries one trial, or two in both directions at once.

mod conversation;
mod kind;
mod login;
mod outcome;
mod partner;
mod request;
mod run;
mod server;
mod tcp;
mod trouble;
mod udp;
mod udp_sink;
mod udp_source;

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use iperf3::{Cookie, Params, Results};
pub use trouble::Trouble;
use wire::{Connected, Event, FarSide, Granted, Iperf3, Prepare, RendezvousRole, Report, Role, Test};

use self::{
    conversation::Conversation,
    kind::{ConnectionOf, Kind},
    run::WithServer,
    server::Server,
    tcp::Tcp,
    udp::Udp,
};
use crate::{
    Control, Outbox, Task, TrialError,
    address::{family_of, resolve},
    coordinator::{self, Sampling, Side},
    flow::Flows,
    halt::Halt,
    host::{Counters, Monitor},
    origin::Origin,
    samples::Delivery,
};

/// Carries a trial out whose far side is an iperf3 server.
pub fn carry_out(prepare: &Prepare, iperf3: &Iperf3, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    let Some(other) = &iperf3.together_with else {
        return conduct(&[prepare], iperf3, control, None, outbox);
    };
    if prepare.role == Role::Sink {
        return partner::hand_over(prepare, other, control);
    }
    let receiving = partner::take(prepare, other, control)?;
    let conducted = conduct(&[prepare, &receiving.prepare], iperf3, control, Some(&receiving.stopped), outbox);
    if let Err(error) = &conducted {
        outbox.event(Event::Failed(error.to_failed(&receiving.prepare.trial)));
    }
    conducted
}

fn conduct(
    prepared: &[&Prepare],
    iperf3: &Iperf3,
    control: &Control,
    partner: Option<&AtomicBool>,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let halt = Halt { control: Some(control), partner };
    let of_tcp = prepared.iter().map(|prepare| match &prepare.test {
        Test::Tcp(settings) => Some(Task::new(prepare, settings)),
        _ => None,
    });
    let of_udp = prepared.iter().map(|prepare| match &prepare.test {
        Test::Udp(settings) => Some(Task::new(prepare, settings)),
        _ => None,
    });
    if let Some(tasks) = of_tcp.collect::<Option<Vec<_>>>() {
        return Trial::<Tcp> { tasks: &tasks, iperf3, halt, outbox }.carry_out(control);
    }
    if let Some(tasks) = of_udp.collect::<Option<Vec<_>>>() {
        return Trial::<Udp> { tasks: &tasks, iperf3, halt, outbox }.carry_out(control);
    }
    Err(TrialError::Settings("an iperf3 server takes tests of tcp and of udp, in both directions the same".into()))
}

/// One test of a server's, in one direction or in both: the one that sends comes first.
struct Trial<'a, K: Kind> {
    tasks: &'a [Task<'a, K::Settings>],
    iperf3: &'a Iperf3,
    halt: Halt<'a>,
    outbox: &'a dyn Outbox,
}

/// One direction of a test whose flows stand, and what the kernel granted them.
struct Opened<'a, K: Kind> {
    task: &'a Task<'a, K::Settings>,
    buffers: K::Buffers,
    connections: Vec<ConnectionOf<K>>,
    granted: Granted,
}

impl<'a, K: Kind> Opened<'a, K> {
    fn begin(self, origin: Origin) -> Direction<'a, K> {
        let flows = Flows::new((0..).zip(self.connections), origin);
        Direction { task: self.task, buffers: self.buffers, flows }
    }
}

/// One direction of a test from its origin on.
struct Direction<'a, K: Kind> {
    task: &'a Task<'a, K::Settings>,
    buffers: K::Buffers,
    flows: Flows<ConnectionOf<K>>,
}

/// What flows that have ended leave behind.
struct Ended<K: Kind> {
    /// Of each direction.
    watched: Vec<(K::Sampler, Monitor)>,
    /// The server's, or why the test is not whole.
    results: Result<Results, TrialError>,
    /// How long the test counted, as we know.
    counted: Duration,
}

/// The outcome of a test in one direction, beside its samples.
struct Outcome<K: Kind> {
    flows: Flows<ConnectionOf<K>>,
    sampler: K::Sampler,
    monitor: Monitor,
    far_side: Option<FarSide>,
}

impl<'a, K: Kind> Trial<'a, K> {
    fn carry_out(&self, control: &Control) -> Result<(), TrialError> {
        let Some(first) = self.tasks.first() else { return Ok(()) };
        self.tasks.iter().try_for_each(K::check)?;
        let buffers = self.tasks.iter().map(K::buffers).collect::<Result<Vec<_>, _>>()?;
        let directions: Vec<Role> = self.tasks.iter().map(|task| task.role).collect();
        let params = request::params(first.settings, self.iperf3, &directions)?;
        let server = self.server(first)?;
        let cookie = cookie(first);
        let with_login = || self.with_login(&params);
        // A login that cannot be made is no reason to disturb a server: 3.12 breaks off altogether if nobody follows it up.
        with_login()?;
        let busy = Duration::from_micros(self.iperf3.busy_timeout_us);
        let mut conversation = Conversation::open(&server, &cookie, with_login, busy, &self.halt)?;
        match self.open(&server, &cookie, buffers, &mut conversation) {
            Ok(opened) => self.run(first, opened, conversation, control),
            Err(error) => {
                conversation.break_off();
                Err(error)
            }
        }
    }

    fn server(&self, first: &Task<'_, K::Settings>) -> Result<Server, TrialError> {
        let RendezvousRole::Connect { address, port, bind, .. } = first.rendezvous else {
            return Err(TrialError::Settings("an iperf3 server is connected to, it does not connect".into()));
        };
        let reach = K::reach(first.settings);
        let remote = resolve(address, *port, family_of(reach.family, *bind))?;
        let times = K::times(first.settings, self.iperf3);
        // Datagrams that fill the path drop what the control connection's ends say to each other, too.
        let full = if K::DATAGRAMS { times.duration + times.pad } else { Duration::ZERO };
        Ok(Server { remote, bind: *bind, connect_timeout: reach.connect_timeout, silence: reach.silence + full })
    }

    fn with_login(&self, params: &Params) -> Result<Params, TrialError> {
        match &self.iperf3.login {
            None => Ok(params.clone()),
            Some(login) => Ok(Params { authtoken: Some(login::token(login)?), ..params.clone() }),
        }
    }

    fn open(
        &self,
        server: &Server,
        cookie: &Cookie,
        buffers: Vec<K::Buffers>,
        conversation: &mut Conversation,
    ) -> Result<Vec<Opened<'a, K>>, TrialError> {
        let mut opened = Vec::new();
        for (task, buffers) in self.tasks.iter().zip(buffers) {
            match K::open(task, server, cookie, conversation, &self.halt) {
                Ok((connections, granted)) => opened.push(Opened { task, buffers, connections, granted }),
                Err(error) => return Err(conversation.reason_for(error)),
            }
        }
        conversation.wait_until_running(&self.halt)?;
        Ok(opened)
    }

    fn run(
        &self,
        first: &Task<'a, K::Settings>,
        opened: Vec<Opened<'a, K>>,
        conversation: Conversation,
        control: &Control,
    ) -> Result<(), TrialError> {
        let running = Instant::now();
        // Whoever reads these events may start the trial at once, and a driver may take its time to tell.
        let counters: Vec<Counters> = opened.iter().map(|_| Counters::read()).collect();
        for Opened { task, granted, .. } in &opened {
            let connected = Connected { trial: task.trial.into(), role: task.role, granted: granted.clone() };
            self.outbox.event(Event::Connected(connected));
        }
        // A server that sends has begun: what came while the start is waited for would overflow our sockets.
        if self.tasks.iter().all(|task| task.role == Role::Source)
            && let Err(error) = control.wait_until_started(|| {})
        {
            conversation.break_off();
            return Err(error);
        }
        let congestion = opened.first().and_then(|one| one.granted.congestion.clone());
        let origin = Origin::now();
        let lead = origin.instant.saturating_duration_since(running);
        let mut directions: Vec<_> = opened.into_iter().map(|one| one.begin(origin)).collect();
        let Ended { watched, results, counted } =
            self.run_flows(first, &mut directions, counters, conversation, congestion)?;
        let mut flows_before = 0;
        for (Direction { task, flows, .. }, (sampler, monitor)) in directions.into_iter().zip(watched) {
            let far_side = results.as_ref().ok().map(|theirs| self.far_side(theirs, task, flows_before, lead, counted));
            flows_before += request::RequestedSettings::flows(task.settings);
            let outcome = Outcome { flows, sampler, monitor, far_side };
            self.report(task, outcome, origin.unix_ns, results.as_ref().err())?;
        }
        Ok(())
    }

    /// Runs all flows to their end, and exchanges results with the server if the test has gone to its end.
    ///
    /// # Arguments
    /// `congestion`: what the kernel granted our flows.
    ///
    /// # Errors
    /// Nothing has run.
    fn run_flows(
        &self,
        first: &Task<'a, K::Settings>,
        directions: &mut [Direction<'a, K>],
        counters: Vec<Counters>,
        mut conversation: Conversation,
        congestion: Option<String>,
    ) -> Result<Ended<K>, TrialError> {
        let interval = K::reach(first.settings).sample_interval;
        let (mut sides, mut carried) = (Vec::new(), Vec::new());
        for (Direction { task, buffers, flows }, counters) in directions.iter_mut().zip(counters) {
            sides.push(Side::begin(task, flows, K::sampler(task, flows), interval, counters, self.outbox));
            carried.push((&*flows, *task, buffers));
        }
        let times = K::times(first.settings, self.iperf3);
        let mut procedure = WithServer::new(&mut conversation, &times, &self.halt);
        let ran = coordinator::run(&mut sides, &mut procedure, &self.halt, move |scope| {
            carried.into_iter().try_for_each(|(flows, task, buffers)| K::spawn_all(scope, flows, task, buffers))
        });
        let counted = procedure.counted();
        let results = match ran {
            Ok(None) => {
                let seen = self.tasks.iter().zip(&sides).flat_map(|(task, side)| K::seen(side, task.settings));
                let ours = outcome::ours(&seen.collect::<Vec<_>>(), congestion, counted);
                let server_sends = self.tasks.iter().any(|task| task.role == Role::Sink);
                let requested = request::RequestedSettings::congestion(first.settings).filter(|_| server_sends);
                conversation.exchange(&ours, requested, &self.halt)
            }
            Ok(Some(incomplete)) => {
                let reason = if goes_one_way(&sides) { conversation.one_way(incomplete) } else { incomplete };
                conversation.break_off();
                Err(reason)
            }
            Err(error) => {
                conversation.break_off();
                return Err(error);
            }
        };
        let watched = sides.into_iter().map(|side| (side.sampler, side.monitor)).collect();
        Ok(Ended { watched, results, counted })
    }

    /// What the server reported of a direction, the streams of which were made after so many others.
    ///
    /// # Arguments
    /// `lead`: how long the server had run when the trial began. `counted`: how long the trial counted.
    fn far_side(
        &self,
        results: &Results,
        task: &Task<'_, K::Settings>,
        flows_before: u32,
        lead: Duration,
        counted: Duration,
    ) -> FarSide {
        let flows = request::RequestedSettings::flows(task.settings);
        let mut far_side = outcome::theirs(results, task.role, flows_before, flows, K::DATAGRAMS);
        if task.role == Role::Source && self.iperf3.omit_s == 0 {
            outcome::take_off(&mut far_side, lead);
        }
        // What a server omits it omits of its own time, which began before.
        let counted = if self.iperf3.omit_s == 0 { counted } else { counted + lead };
        outcome::settle_times(&mut far_side, results, counted);
        far_side
    }

    fn report(
        &self,
        task: &Task<'_, K::Settings>,
        outcome: Outcome<K>,
        origin_unix_ns: i64,
        incomplete: Option<&TrialError>,
    ) -> Result<(), TrialError> {
        let Outcome { flows, sampler, monitor, far_side } = outcome;
        let observed = monitor.end(flows.now_ns(), flows.meters());
        let mut tables = Delivery::new(task.trial, task.role, self.outbox);
        let (reports, remark) = K::deliver(sampler, flows, &mut tables)?;
        let broken = TrialError::of_broken(&reports);
        let incomplete = incomplete.or(broken.as_ref()).map(|error| error.to_failed(task.trial));
        self.outbox.event(Event::Report(Box::new(Report {
            origin_unix_ns,
            flows: reports,
            far_side,
            incomplete,
            ..tables.report(observed, remark.into_iter().collect())
        })));
        Ok(())
    }
}

/// Whether a server that was to send, too, has sent nothing, or one byte a flow: one before 3.7 has begun with the flows that
/// it knows, and denies all others access.
fn goes_one_way<S: Sampling>(sides: &[Side<'_, S>]) -> bool {
    let mut from_there = sides.iter().filter(|side| side.role == Role::Sink).flat_map(|side| &side.flows.all);
    sides.len() > 1 && from_there.all(|flow| flow.bytes() <= 1)
}

/// The controller's random bytes name the test.
fn cookie<S>(task: &Task<'_, S>) -> Cookie {
    let mut random = [0; 36];
    for (place, byte) in random.iter_mut().zip(task.token.0.iter().chain(&task.answer.0)) {
        *place = *byte;
    }
    Cookie::from_random(random)
}
