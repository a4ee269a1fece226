//! A trial whose far side is an iperf3 server: check, be let in, open streams, run, exchange results, report. One test of
//! the server's carries one trial, or two in both directions at once.

mod conversation;
mod kind;
mod login;
mod outcome;
mod partner;
mod request;
mod run;
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
    conversation::{Conversation, Server},
    kind::{ConnectionOf, Kind},
    outcome::Seen,
    run::WithServer,
    tcp::Tcp,
    udp::Udp,
};
use crate::{
    Control, Outbox, Task, TrialError,
    address::{family_of, resolve},
    coordinator::{self, Side},
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

/// The flows of one direction that stand, and what the kernel granted them.
type Opened<K> = (Vec<ConnectionOf<K>>, Granted);

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
        match self.open(&server, &cookie, &mut conversation) {
            Ok(opened) => self.run(opened, buffers, conversation, control),
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
        conversation: &mut Conversation,
    ) -> Result<Vec<Opened<K>>, TrialError> {
        let mut opened = Vec::new();
        for task in self.tasks {
            match K::open(task, server, cookie, conversation, &self.halt) {
                Ok(of_task) => opened.push(of_task),
                Err(error) => return Err(conversation.reason_for(error)),
            }
        }
        conversation.wait_until_running(&self.halt)?;
        Ok(opened)
    }

    fn run(
        &self,
        opened: Vec<Opened<K>>,
        mut buffers: Vec<K::Buffers>,
        mut conversation: Conversation,
        control: &Control,
    ) -> Result<(), TrialError> {
        let running = Instant::now();
        let Some(first) = self.tasks.first() else { return Ok(()) };
        let congestion = opened.first().and_then(|(_, granted)| granted.congestion.clone());
        let mut connections = Vec::new();
        // Whoever reads these events may start the trial at once, and a driver may take its time to tell.
        let counters: Vec<Counters> = self.tasks.iter().map(|_| Counters::read()).collect();
        for (task, (of_task, granted)) in self.tasks.iter().zip(opened) {
            let connected = Connected { trial: task.trial.into(), role: task.role, granted };
            self.outbox.event(Event::Connected(connected));
            connections.push(of_task);
        }
        if first.role == Role::Source
            && let Err(error) = control.wait_until_started(|| {})
        {
            conversation.break_off();
            return Err(error);
        }
        let origin = Origin::now();
        let lead = origin.instant.saturating_duration_since(running);
        let interval = K::reach(first.settings).sample_interval;
        let flows: Vec<Flows<ConnectionOf<K>>> =
            connections.into_iter().map(|of_task| Flows::new((0..).zip(of_task), origin)).collect();
        let mut sides: Vec<Side<'_, K::Sampler>> = Vec::new();
        for ((task, flows), counters) in self.tasks.iter().zip(&flows).zip(counters) {
            sides.push(Side::begin(task, flows, K::sampler(task, flows), interval, counters, self.outbox));
        }
        let times = K::times(first.settings, self.iperf3);
        let all = self.tasks.iter().zip(&flows).zip(&mut buffers);
        let mut procedure = WithServer::new(&mut conversation, &times, &self.halt);
        let ran = coordinator::run(&mut sides, &mut procedure, &self.halt, move |scope| {
            for ((task, flows), buffers) in all {
                K::spawn_all(scope, flows, task, buffers)?;
            }
            Ok(())
        });
        let counted = procedure.counted();
        let mut incomplete = match ran {
            Ok(incomplete) => incomplete,
            Err(error) => {
                conversation.break_off();
                return Err(error);
            }
        };
        let mut results = None;
        if incomplete.is_none() {
            let seen: Vec<Seen> =
                self.tasks.iter().zip(&sides).flat_map(|(task, side)| K::seen(side, task.settings)).collect();
            let ours = outcome::ours(&seen, congestion, counted);
            let server_sends = self.tasks.iter().any(|task| task.role == Role::Sink);
            let requested = request::RequestedSettings::congestion(first.settings).filter(|_| server_sends);
            match conversation.exchange(&ours, requested, &self.halt) {
                Ok(theirs) => results = Some(theirs),
                Err(error) => incomplete = Some(error),
            }
        } else {
            conversation.break_off();
        }
        let watched: Vec<_> = sides.into_iter().map(|side| (side.sampler, side.monitor)).collect();
        let far_sides = self.far_sides(results.as_ref(), lead);
        for (((task, flows), (sampler, monitor)), far_side) in self.tasks.iter().zip(flows).zip(watched).zip(far_sides)
        {
            let outcome = Outcome { flows, sampler, monitor, far_side };
            self.report(task, outcome, origin.unix_ns, incomplete.as_ref())?;
        }
        Ok(())
    }

    /// What the server reported of each direction, the streams of which were made one after the other.
    ///
    /// # Arguments
    /// `lead`: how long the server had run when the trial began.
    fn far_sides(&self, results: Option<&Results>, lead: Duration) -> Vec<Option<FarSide>> {
        let mut first = 0;
        let of_task = |task: &Task<'a, K::Settings>| {
            let flows = request::RequestedSettings::flows(task.settings);
            let mut far_side = results.map(|results| outcome::theirs(results, task.role, first, flows, K::DATAGRAMS));
            if let Some(far_side) = &mut far_side
                && task.role == Role::Source
                && self.iperf3.omit_s == 0
            {
                outcome::take_off(far_side, lead);
            }
            first += flows;
            far_side
        };
        self.tasks.iter().map(of_task).collect()
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
            remarks: remark.into_iter().collect(),
            incomplete,
            ..tables.report(observed)
        })));
        Ok(())
    }
}

/// The controller's random bytes name the test.
fn cookie<S>(task: &Task<'_, S>) -> Cookie {
    let mut random = [0; 36];
    for (place, byte) in random.iter_mut().zip(task.token.0.iter().chain(&task.answer.0)) {
        *place = *byte;
    }
    Cookie::from_random(random)
}
