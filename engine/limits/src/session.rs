//! What a session has of its host: a turn, and what each end of a trial in it holds.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wire::Prepare;

use crate::{
    Limits, Rule,
    asked::asked_of,
    audit,
    check::{Grant, Held},
    defaults::{REFUSALS_AUDITED, WAIT_CHECK, WAITING_MAX},
    demand::Demand,
    ledger::{Ledger, day_of},
    moment::Moment,
    refusal::Refusal,
    seat::{End, Seat},
    state::{Folder, Locked},
    turns::{Place, Present, Who},
};

/// A session of a controller.
pub struct Session {
    /// Whose it is.
    pub who: Who,
    /// Its limits.
    file: PathBuf,
    inner: Mutex<Inner>,
}

/// What it has.
#[derive(Default)]
struct Inner {
    seat: Option<Seat>,
    waiter: Option<Place>,
    waiting: usize,
    refusals: u64,
    ends: u64,
    /// When they could be read last: where refusals are written while they cannot.
    limits: Option<Arc<Limits>>,
}

/// An end that asks for a place.
pub struct Asking<'a> {
    /// The limits, as they are now.
    pub limits: &'a Arc<Limits>,
    /// What is asked for.
    pub demand: &'a Demand,
    /// Rules that may come to apply.
    pub rules: &'a [&'a Rule],
}

/// What it got.
pub struct Got {
    /// Which of its session's ends it is.
    number: u64,
    /// What it is called in the ledger.
    pub end: String,
    /// In whose ledger.
    day: String,
    /// Rules that grant it.
    pub rules: Vec<String>,
    /// Rules that do not, and why.
    pub refused: Vec<(String, Refusal)>,
    /// What is granted.
    pub grant: Grant,
    /// By these limits, for as long as it lasts.
    pub limits: Arc<Limits>,
}

impl Session {
    /// One that has nothing so far.
    #[must_use]
    pub fn new(who: Who, file: PathBuf) -> Self {
        Self { who, file, inner: Mutex::default() }
    }

    /// The limits, as the file says them now.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_limits(&self) -> Result<Arc<Limits>, String> {
        let limits = Arc::new(Limits::read(&self.file).map_err(|error| error.to_string())?);
        self.inner().limits = Some(limits.clone());
        Ok(limits)
    }

    /// Waits for a turn, if others have theirs, and takes what an end may have.
    ///
    /// # Arguments
    /// `stopped`: whether nobody waits for the answer any more.
    ///
    /// # Errors
    /// [`Refusal`]; nothing was taken.
    pub fn wait_for_place(&self, asking: &Asking<'_>, stopped: &dyn Fn() -> bool) -> Result<Got, Refusal> {
        let begun = Instant::now();
        let mut waits = Waits { session: self, counted: false };
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
        let present = self.present(asking, &locked)?;
        let ahead = present.ahead_of(inner.waiter.as_ref());
        let busy = inner.seat.is_none() && (present.turns.len() >= asking.limits.at_once || ahead > 0);
        // Whoever has to wait may have more once others' turns are over: its own in other sessions, too.
        let held = if busy { Held::default() } else { inner.held(&self.who, &present) };
        let (rules, refused, grant) = asking.grants(held, &ledger, now)?;
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
            None if busy => {
                let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                let (who, until) = (present.text(), present.first_over(now));
                let busy = Refusal::Busy { who, until, ahead, waited_ms };
                return inner.wait(asking, &locked, busy, waits).map(Err);
            }
            None => {
                // Of all that may begin within the turn, whatever its rule.
                let rules = asking.limits.rules_for(self.who.address);
                let longest_us = rules.map(|rule| rule.duration_us).max().unwrap_or(0);
                let seat = Seat::take(&locked, &self.who, Duration::from_micros(longest_us), now);
                inner.seat = Some(seat.map_err(Refusal::Broken)?);
                inner.waiter = None;
            }
        }
        let taken = inner.take(asking, &locked, &mut ledger, until, &rules, &grant);
        let (number, end) = taken.map_err(|error| {
            inner.free_if_empty();
            Refusal::Broken(error)
        })?;
        Ok(Ok(Got { number, end, day, rules, refused, grant, limits: asking.limits.clone() }))
    }

    /// Who is there; the audit says whose engines are gone.
    fn present(&self, asking: &Asking<'_>, locked: &Locked<'_>) -> Result<Present, Refusal> {
        let present = Present::look(locked, true).map_err(Refusal::Broken)?;
        for turn in &present.vanished {
            let _ = audit::write(&asking.limits.audit, "vanished", &self.who, json!({ "turn": turn }));
        }
        Ok(present)
    }

    /// An end is over sooner than it might have been.
    ///
    /// # Errors
    /// Others cannot be told.
    pub fn shorten(&self, got: &Got, until: Moment) -> Result<(), String> {
        let mut inner = self.inner();
        let Some(seat) = &mut inner.seat else { return Ok(()) };
        let folder = Folder::open(&got.limits.state)?;
        seat.shorten(&folder.lock()?, got.number, until)
    }

    /// What an end had is free again, and so many bytes count.
    ///
    /// # Errors
    /// The ledger cannot be written: what was reserved stays counted.
    pub fn leave(&self, got: &Got, bytes: u64) -> Result<(), String> {
        let mut inner = self.inner();
        let written = Folder::open(&got.limits.state).and_then(|folder| {
            let locked = folder.lock()?;
            let mut ledger = Ledger::read(&locked, &got.day)?;
            let written = ledger.write(&locked, &got.end, &got.rules, bytes, true);
            // While the folder is locked: a turn that just ends is not taken for one whose engine was killed.
            inner.leave(got.number);
            let told = inner.seat.as_mut().map_or(Ok(()), |seat| seat.tell(&locked));
            written.and(told)
        });
        inner.leave(got.number);
        written
    }

    /// Writes to the audit.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn audit(&self, limits: &Limits, event: &str, fields: Value) -> Result<(), String> {
        audit::write(&limits.audit, event, &self.who, fields)
    }

    /// Writes a refusal to the audit, if there were not too many already.
    pub fn audit_refusal(&self, prepare: &Prepare, refusal: &Refusal) {
        let mut inner = self.inner();
        inner.refusals += 1;
        let Some(limits) = inner.limits.clone() else { return };
        if inner.refusals <= REFUSALS_AUDITED {
            let mut fields = asked_of(prepare);
            fields["reason"] = refusal.to_string().into();
            // It is refused either way.
            let _ = self.audit(&limits, "refused", fields);
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whatever failed has not changed half of it: each of its parts is set at once.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let (refusals, limits) = {
            let inner = self.inner();
            (inner.refusals, inner.limits.clone())
        };
        if let Some(limits) = limits.filter(|_| refusals > REFUSALS_AUDITED) {
            let _ = self.audit(&limits, "refused_more", json!({ "requests": refusals - REFUSALS_AUDITED }));
        }
    }
}

/// Of a request, that it waits: once none of a session does, its place in the queue is free.
struct Waits<'a> {
    session: &'a Session,
    counted: bool,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.counted {
            let mut inner = self.session.inner();
            inner.waiting -= 1;
            if inner.waiting == 0 {
                inner.waiter = None;
            }
        }
    }
}

type Grants = (Vec<String>, Vec<(String, Refusal)>, Grant);

impl Asking<'_> {
    /// Which rules grant it, which do not, and what all of those that do have in common.
    fn grants(&self, held: Held, ledger: &Ledger, now: Moment) -> Result<Grants, Refusal> {
        let (mut names, mut refused, mut common) = (Vec::new(), Vec::new(), None::<Grant>);
        for rule in self.rules {
            match rule.grant(self.demand, held, ledger.used(&rule.name), now) {
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
}

impl Inner {
    /// What a controller has in this session, and in others.
    fn held(&self, who: &Who, present: &Present) -> Held {
        let own = self.seat.as_ref().map_or(Held::default(), Seat::held);
        own.and(present.held_by(who, self.seat.as_ref().map(|seat| &seat.place)))
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
        let end = seat.name(self.ends);
        ledger.write(locked, &end, rules, grant.bytes.unwrap_or(0), false)?;
        let held = Held {
            flows: asking.demand.flows.max(1).into(),
            rate_bps: grant.rate_bps.unwrap_or(0),
            samples_per_s: asking.demand.samples_per_s,
        };
        seat.add(locked, self.ends, asking.demand.test, End { held, until })?;
        self.ends += 1;
        Ok((self.ends - 1, end))
    }

    fn leave(&mut self, number: u64) {
        if let Some(seat) = &mut self.seat {
            seat.remove(number);
        }
        self.free_if_empty();
    }

    fn free_if_empty(&mut self) {
        if self.seat.as_ref().is_some_and(Seat::is_empty) {
            self.seat = None;
        }
    }
}
