//! What one session of a controller may do: each end of a trial is admitted, or refused before any traffic.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wire::{Prepare, RendezvousRole, Role, Test};

use crate::{
    Limits, Rule,
    admitted::Admitted,
    audit,
    check::{Grant, Held},
    defaults::{AUDITED_CHARS, OVERHEAD_MAX, REFUSALS_AUDITED, START_WAIT, WAIT_CHECK, WAITING_MAX},
    demand::Demand,
    ledger::{Ledger, day_of},
    moment::Moment,
    refusal::Refusal,
    state::{Folder, Locked},
    turns::{Place, Present, Turn, Who},
    units::write_rate,
};

/// Finds the address of a name: name, port, and 4 or 6 if only that IP version will do.
pub type Resolve = fn(&str, u16, Option<u8>) -> Result<SocketAddr, String>;

/// The limits, as they hold for one session.
pub struct Gate {
    /// Whose session it is.
    pub(crate) who: Who,
    pub(crate) limits: Result<Limits, String>,
    resolve: Resolve,
    inner: Mutex<Inner>,
}

/// What the session has.
#[derive(Default)]
pub(crate) struct Inner {
    seat: Option<Seat>,
    waiter: Option<Place>,
    waiting: usize,
    refusals: u64,
    ends: u64,
}

/// Its turn.
struct Seat {
    place: Place,
    turn: Turn,
    /// Nothing that begins within the turn ends later.
    no_later: Moment,
    ends: HashMap<u64, Held>,
}

/// An end that asks for a place.
struct Asking<'a> {
    limits: &'a Limits,
    demand: &'a Demand,
    rules: &'a [&'a Rule],
}

/// What it got.
struct Got {
    number: u64,
    end: String,
    day: String,
    rules: Vec<String>,
    refused: Vec<(String, Refusal)>,
    grant: Grant,
}

impl Gate {
    /// The limits of a file, for a controller. If they cannot be read, everything is refused.
    #[must_use]
    pub fn new(file: &Path, who: Who, resolve: Resolve) -> Arc<Self> {
        let limits = Limits::read(file).map_err(|error| error.to_string());
        Arc::new(Self { who, limits, resolve, inner: Mutex::default() })
    }

    /// Waits for a turn, if others have theirs, and takes what an end of a trial may have.
    ///
    /// # Arguments
    /// `stopped`: whether nobody waits for the answer any more.
    ///
    /// # Errors
    /// [`Refusal`]; nothing of the trial may begin.
    pub fn admit(self: &Arc<Self>, prepare: &Prepare, stopped: &dyn Fn() -> bool) -> Result<Admitted, Refusal> {
        let admitted = self.decide(prepare, stopped);
        if let Err(refusal) = &admitted {
            self.audit_refusal(prepare, refusal);
        }
        admitted
    }

    /// Refuses an end of a trial that is one of too many at once.
    pub fn refuse_one_of(&self, most: usize, prepare: &Prepare) -> Refusal {
        let what = format!("more than {most} ends of trials at once");
        let refusal = Refusal::Unbounded { what, why: "no plan needs so many" };
        self.audit_refusal(prepare, &refusal);
        refusal
    }

    fn decide(self: &Arc<Self>, prepare: &Prepare, stopped: &dyn Fn() -> bool) -> Result<Admitted, Refusal> {
        let limits = self.limits.as_ref().map_err(|error| Refusal::Broken(error.clone()))?;
        let demand = Demand::of(prepare)?;
        let (prepare, rules) = self.rules_of(limits, prepare, &demand)?;
        let got = self.wait_for_place(&Asking { limits, demand: &demand, rules: &rules }, stopped)?;
        let admitted = Admitted::new(
            self.clone(),
            granted(prepare, &got.grant),
            remarks(&got),
            demand,
            got.grant,
            (got.number, got.end, got.day),
            (got.rules, got.refused),
        );
        // Dropped if it leaves no trace: what it got is free again.
        admitted.audit_begin().map_err(Refusal::Broken)?;
        Ok(admitted)
    }

    /// The rules that may come to apply, and the request with the address that was looked at.
    fn rules_of<'a>(
        &self,
        limits: &'a Limits,
        prepare: &Prepare,
        demand: &Demand,
    ) -> Result<(Prepare, Vec<&'a Rule>), Refusal> {
        let controller = self.who.address;
        let rules: Vec<&Rule> = limits.rules_for(controller).collect();
        let mut prepare = prepare.clone();
        let RendezvousRole::Connect { address, port, bind, .. } = &mut prepare.rendezvous else {
            return if rules.is_empty() { Err(Refusal::Controller(controller)) } else { Ok((prepare, rules)) };
        };
        let refusals = || rules.iter().map(|rule| rule.grant(demand, Held::default(), 0, Moment::now()).err());
        let none_allows = refusals().all(|refusal| refusal.is_some());
        if address.parse::<IpAddr>().is_err() && none_allows {
            // Not even the name is looked up.
            return Err(refusals().flatten().next().unwrap_or(Refusal::Controller(controller)));
        }
        let family = demand.family.or(bind.map(|local| if local.is_ipv4() { 4 } else { 6 }));
        let peer = (self.resolve)(address, *port, family).map_err(Refusal::Unresolved)?;
        let refused = Refusal::Peer { peer: peer.ip().to_canonical(), controller };
        let rule = limits.rule(peer.ip(), controller).ok_or(refused)?;
        // What was looked at is where it goes: the name may mean something else the next time.
        *address = numeric(peer);
        Ok((prepare, vec![rule]))
    }

    fn wait_for_place(&self, asking: &Asking<'_>, stopped: &dyn Fn() -> bool) -> Result<Got, Refusal> {
        let begun = Instant::now();
        let mut waits = Waits { gate: self, counted: false };
        loop {
            let waited = begun.elapsed();
            match self.try_place(asking, waited, &mut waits)? {
                Ok(got) => return Ok(got),
                Err(busy) if waited >= asking.limits.wait => return Err(busy),
                Err(_) if stopped() => return Err(Refusal::Stopped),
                Err(_) => thread::sleep(WAIT_CHECK),
            }
        }
    }

    /// The inner error: others have their turns.
    fn try_place(
        &self,
        asking: &Asking<'_>,
        waited: Duration,
        waits: &mut Waits<'_>,
    ) -> Result<Result<Got, Refusal>, Refusal> {
        let mut inner = self.inner();
        let folder = Folder::open(&asking.limits.state).map_err(Refusal::Broken)?;
        let locked = folder.lock().map_err(Refusal::Broken)?;
        let now = Moment::now();
        let day = day_of(now);
        let mut ledger = Ledger::read(&locked, &day).map_err(Refusal::Broken)?;
        let (rules, refused, grant) = inner.grants(asking, &ledger, now)?;
        let present = Present::look(&locked, true).map_err(Refusal::Broken)?;
        for turn in &present.vanished {
            let _ = audit::write(&asking.limits.audit, "vanished", &self.who, json!({ "turn": turn }));
        }
        let longest = Duration::from_micros(asking.demand.longest_us());
        let until = now.after(longest);
        match &inner.seat {
            Some(seat) if until > seat.no_later => {
                let asked = format!("another trial within a turn, until {}", until.rfc3339());
                let allowed = format!("until {}", seat.no_later.rfc3339());
                let rule = rules.first().map_or("", String::as_str);
                return Err(Refusal::limit(rule, "duration", asked, allowed, None));
            }
            Some(_) => {}
            None => {
                let ahead = present.ahead_of(inner.waiter.as_ref());
                if present.turns.len() >= asking.limits.at_once || ahead > 0 {
                    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                    let (who, until) = (present.text(), present.first_over(now));
                    let busy = Refusal::Busy { who, until, ahead, waited_ms };
                    return inner.wait(asking, &locked, busy, waits).map(Err);
                }
                inner.seat = Some(Seat::take(&locked, &self.who, asking, now).map_err(Refusal::Broken)?);
                inner.waiter = None;
            }
        }
        let taken = inner.take(asking, &locked, &mut ledger, until, &rules, &grant);
        let (number, end) = taken.map_err(|error| {
            inner.free_if_empty();
            Refusal::Broken(error)
        })?;
        Ok(Ok(Got { number, end, day, rules, refused, grant }))
    }

    /// What an end had is free again.
    pub(crate) fn leave(&self, number: u64, end: &str, day: &str, rules: &[String], bytes: u64) -> Result<(), String> {
        let mut inner = self.inner();
        let written = self.limits.as_ref().map_err(Clone::clone).and_then(|limits| {
            let folder = Folder::open(&limits.state)?;
            let locked = folder.lock()?;
            let written = Ledger::read(&locked, day)?.write(&locked, end, rules, bytes, true);
            // While the lock is held, so that nobody takes a turn that ends for one whose engine was killed.
            inner.leave(number);
            written
        });
        inner.leave(number);
        written
    }

    /// Writes to the audit.
    pub(crate) fn audit(&self, event: &str, fields: Value) -> Result<(), String> {
        let limits = self.limits.as_ref().map_err(Clone::clone)?;
        audit::write(&limits.audit, event, &self.who, fields)
    }

    fn audit_refusal(&self, prepare: &Prepare, refusal: &Refusal) {
        let mut inner = self.inner();
        inner.refusals += 1;
        if inner.refusals <= REFUSALS_AUDITED {
            let mut fields = asked_of(prepare);
            fields["reason"] = refusal.to_string().into();
            // It is refused either way.
            let _ = self.audit("refused", fields);
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whatever failed has not changed half of it: each of its parts is set at once.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let refusals = self.inner().refusals;
        if refusals > REFUSALS_AUDITED {
            let _ = self.audit("refused_more", json!({ "requests": refusals - REFUSALS_AUDITED }));
        }
    }
}

/// Of a request, that it waits: once none of a session does, its place in the queue is free.
struct Waits<'a> {
    gate: &'a Gate,
    counted: bool,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.counted {
            let mut inner = self.gate.inner();
            inner.waiting -= 1;
            if inner.waiting == 0 {
                inner.waiter = None;
            }
        }
    }
}

type Grants = (Vec<String>, Vec<(String, Refusal)>, Grant);

impl Inner {
    /// Which rules grant it, which do not, and what all of those that do have in common.
    fn grants(&self, asking: &Asking<'_>, ledger: &Ledger, now: Moment) -> Result<Grants, Refusal> {
        let held = self.seat.as_ref().map_or(Held::default(), Seat::held);
        let (mut names, mut refused, mut common) = (Vec::new(), Vec::new(), None::<Grant>);
        for rule in asking.rules {
            match rule.grant(asking.demand, held, ledger.used(&rule.name), now) {
                Ok(grant) => {
                    names.push(rule.name.clone());
                    common = Some(common.map_or(grant, |other| other.and(grant)));
                }
                Err(refusal) => refused.push((rule.name.clone(), refusal)),
            }
        }
        match common {
            Some(grant) => Ok((names, refused, grant)),
            None => Err(refused.into_iter().next().map_or(Refusal::Controller(None), |(_, refusal)| refusal)),
        }
    }

    /// Takes a place in the queue, if this request may wait.
    fn wait(
        &mut self,
        asking: &Asking<'_>,
        locked: &Locked<'_>,
        busy: Refusal,
        waits: &mut Waits<'_>,
    ) -> Result<Refusal, Refusal> {
        if asking.limits.wait.is_zero() {
            return Ok(busy);
        }
        if !waits.counted {
            if self.waiting >= WAITING_MAX {
                return Err(busy);
            }
            self.waiting += 1;
            waits.counted = true;
        }
        if self.waiter.is_none() {
            self.waiter = Some(Place::in_queue(locked).map_err(Refusal::Broken)?);
        }
        Ok(busy)
    }

    fn take(
        &mut self,
        asking: &Asking<'_>,
        locked: &Locked<'_>,
        ledger: &mut Ledger,
        until: Moment,
        rules: &[String],
        grant: &Grant,
    ) -> Result<(u64, String), String> {
        let Some(seat) = &mut self.seat else { return Err("a turn is gone".into()) };
        let end = format!("{}-{}", seat.place.id, self.ends);
        ledger.write(locked, &end, rules, grant.bytes.unwrap_or(0), false)?;
        let test = asking.demand.test.text();
        if !seat.turn.tests.iter().any(|known| known == test) {
            seat.turn.tests.push(test.into());
        }
        seat.turn.until_unix_s = seat.turn.until_unix_s.max(until.0);
        seat.place.rewrite(locked, &seat.turn)?;
        let held = Held { flows: asking.demand.flows.max(1).into(), rate_bps: grant.rate_bps.unwrap_or(0) };
        seat.ends.insert(self.ends, held);
        self.ends += 1;
        Ok((self.ends - 1, end))
    }

    fn leave(&mut self, number: u64) {
        if let Some(seat) = &mut self.seat {
            seat.ends.remove(&number);
        }
        self.free_if_empty();
    }

    fn free_if_empty(&mut self) {
        if self.seat.as_ref().is_some_and(|seat| seat.ends.is_empty()) {
            self.seat = None;
        }
    }
}

impl Seat {
    fn take(locked: &Locked<'_>, who: &Who, asking: &Asking<'_>, now: Moment) -> Result<Self, String> {
        let longest_us = asking.rules.iter().map(|rule| rule.duration_us).max().unwrap_or(0);
        let no_later = now.after(Duration::from_micros(longest_us) + OVERHEAD_MAX + START_WAIT);
        let turn = Turn { who: who.clone(), tests: Vec::new(), begin_unix_s: now.0, until_unix_s: now.0 };
        Ok(Self { place: Place::at_point(locked, &turn)?, turn, no_later, ends: HashMap::new() })
    }

    fn held(&self) -> Held {
        self.ends.values().fold(Held::default(), |sum, held| Held {
            flows: sum.flows + held.flows,
            rate_bps: sum.rate_bps.saturating_add(held.rate_bps),
        })
    }
}

/// The request with the pace that its flows are held to.
fn granted(mut prepare: Prepare, grant: &Grant) -> Prepare {
    match &mut prepare.test {
        Test::Tcp(settings) if grant.paced_bps.is_some() => settings.pacing_rate_bps = grant.paced_bps,
        Test::Quic(settings) if grant.paced_bps.is_some() => settings.rate_bps = grant.paced_bps,
        _ => {}
    }
    prepare
}

fn remarks(got: &Got) -> Vec<String> {
    let paced = got.grant.paced_bps.map(|rate| {
        let names = got.rules.join(", ");
        format!("the standing point (rule {names}) holds each flow to {}: the request stated no rate", write_rate(rate))
    });
    paced.into_iter().collect()
}

fn numeric(peer: SocketAddr) -> String {
    match peer {
        SocketAddr::V6(peer) if peer.scope_id() != 0 => format!("{}%{}", peer.ip(), peer.scope_id()),
        peer => peer.ip().to_string(),
    }
}

/// What the audit says of a request.
pub(crate) fn asked_of(prepare: &Prepare) -> Value {
    let short = |text: &str| text.chars().take(AUDITED_CHARS).collect::<String>();
    let peer = match &prepare.rendezvous {
        RendezvousRole::Listen { .. } => Value::Null,
        RendezvousRole::Connect { address, port, .. } => format!("{}:{port}", short(address)).into(),
    };
    let role = if prepare.role == Role::Source { "source" } else { "sink" };
    json!({ "trial": short(&prepare.trial), "role": role, "connects_to": peer, "asked": asked(&prepare.test) })
}

fn asked(test: &Test) -> Value {
    let bulk = |test: &str, flows: u32, rate_bps: Option<u64>, duration_us: u64| json!({ "test": test, "flows": flows, "rate_per_flow_bps": rate_bps, "duration_us": duration_us });
    match test {
        Test::Tcp(own) => bulk("tcp", own.flows, own.rate_bps.or(own.pacing_rate_bps), own.duration_us),
        Test::Udp(own) => bulk("udp", own.flows, own.rate_bps, own.duration_us),
        Test::Quic(own) => bulk("quic", own.flows, own.rate_bps, own.duration_us),
        Test::Mptcp(own) => bulk("mptcp", own.tcp.flows, own.tcp.rate_bps, own.tcp.duration_us),
        Test::File(own) => bulk("file", own.tcp.flows, None, own.tcp.duration_us),
        Test::Rtt(own) => json!({ "test": "rtt", "every_us": own.every_us, "duration_us": own.duration_us }),
        Test::Path(own) => json!({ "test": "path", "trains": own.trains, "duration_us": own.deadline_us }),
        Test::Added(own) => json!({ "test": own.name.chars().take(AUDITED_CHARS).collect::<String>() }),
    }
}
