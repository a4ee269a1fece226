//! How busy a standing point is, and what would be allowed now.

use std::fmt;

use serde::Serialize;

use crate::{
    Limits, Rule,
    ledger::{Ledger, day_of},
    moment::Moment,
    state::Folder,
    test_name::TestName,
    turns::{Present, Turn},
    units::{write_duration, write_rate, write_size},
};

/// What `flowsweep-engine availability` says.
#[derive(Debug, Serialize)]
pub struct Availability {
    /// Whether the next controller has its turn at once.
    pub free: bool,
    /// When it was so.
    pub at: String,
    /// Controllers that may measure at once.
    pub at_once: usize,
    /// Who measures.
    pub turns: Vec<OfTurn>,
    /// How many wait.
    pub waiting: usize,
    /// What the rules allow.
    pub rules: Vec<OfRule>,
}

/// A turn.
#[derive(Debug, Serialize)]
pub struct OfTurn {
    /// Who, and what.
    pub who: String,
    /// Since when.
    pub since: Option<String>,
    /// When what runs in it is over, at the latest; who has it may begin more until then.
    pub until: Option<String>,
}

/// A rule.
#[derive(Debug, Serialize)]
pub struct OfRule {
    /// Its name.
    pub name: String,
    /// Networks of peers.
    pub peers: Vec<String>,
    /// Networks of controllers; nothing: all.
    pub controllers: Option<Vec<String>>,
    /// Whether trials may run at this time of the day.
    pub open: bool,
    /// If not, when they may.
    pub opens_at: Option<String>,
    /// Tests that are allowed.
    pub tests: Vec<&'static str>,
    /// Longest trial, in microseconds.
    pub duration_us: u64,
    /// Most flows at once.
    pub flows: u32,
    /// Highest rate of all flows, in bit/s.
    pub rate_bps: Option<u64>,
    /// Bytes of a day.
    pub bytes_per_day: Option<u64>,
    /// Bytes of today, reserved ones included.
    pub bytes_today: u64,
    /// Bytes that are left of today.
    pub bytes_left: Option<u64>,
}

impl Availability {
    /// Looks at a point; changes nothing there.
    ///
    /// # Errors
    /// Its state cannot be read. All trials are refused then.
    pub fn of(limits: &Limits) -> Result<Self, String> {
        let now = Moment::now();
        let folder = Folder::open(&limits.state)?;
        let locked = folder.lock_to_read()?;
        let (present, ledger) = match &locked {
            Some(locked) => (Present::look(locked, false)?, Some(Ledger::read(locked, &day_of(now))?)),
            None => (Present::default(), None),
        };
        let rules = limits
            .rules
            .iter()
            .map(|rule| OfRule::new(rule, ledger.as_ref().map_or(0, |ledger| ledger.used(&rule.name)), now));
        Ok(Self {
            free: present.turns.len() < limits.at_once && present.waiting.is_empty(),
            at: now.rfc3339(),
            at_once: limits.at_once,
            turns: present.turns.iter().map(|(_, turn)| OfTurn::new(turn.as_ref())).collect(),
            waiting: present.waiting.len(),
            rules: rules.collect(),
        })
    }
}

impl OfTurn {
    fn new(turn: Option<&Turn>) -> Self {
        Self {
            who: turn.map_or("an unknown controller".into(), Turn::text),
            since: turn.map(|turn| Moment(turn.begin_unix_s).rfc3339()),
            until: turn.map(|turn| Moment(turn.until_unix_s).rfc3339()),
        }
    }
}

impl OfRule {
    fn new(rule: &Rule, bytes_today: u64, now: Moment) -> Self {
        let texts = |networks: &Vec<serving::Network>| networks.iter().map(ToString::to_string).collect();
        let open = rule.between.holds(now, now);
        Self {
            name: rule.name.clone(),
            peers: texts(&rule.peers),
            controllers: rule.controllers.as_ref().map(texts),
            open,
            opens_at: rule.between.opens(now).filter(|_| !open).map(Moment::rfc3339),
            tests: rule.tests.iter().copied().map(TestName::text).collect(),
            duration_us: rule.duration_us,
            flows: rule.flows,
            rate_bps: rule.rate_bps,
            bytes_per_day: rule.bytes_per_day,
            bytes_today,
            bytes_left: rule.bytes_per_day.map(|most| most.saturating_sub(bytes_today)),
        }
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.free { "free" } else { "busy" };
        write!(formatter, "{state} at {}: {} of {} turns taken", self.at, self.turns.len(), self.at_once)?;
        match self.waiting {
            0 => writeln!(formatter, ", nobody waits")?,
            waiting => writeln!(formatter, ", {waiting} waiting")?,
        }
        for turn in &self.turns {
            let until = turn.until.as_deref().unwrap_or("an unknown time");
            writeln!(formatter, "  {}; what runs ends at {until} at the latest", turn.who)?;
        }
        self.rules.iter().try_for_each(|rule| rule.fmt(formatter))
    }
}

impl fmt::Display for OfRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "rule {}: peers in {}", self.name, self.peers.join(", "))?;
        if let Some(controllers) = &self.controllers {
            writeln!(formatter, "  controllers from {}", controllers.join(", "))?;
        }
        match &self.opens_at {
            Some(moment) => writeln!(formatter, "  closed now, opens at {moment}")?,
            None => writeln!(formatter, "  open now")?,
        }
        let (tests, duration) = (self.tests.join(", "), write_duration(self.duration_us));
        let rate = self.rate_bps.map_or("any rate".into(), |rate| format!("up to {}", write_rate(rate)));
        writeln!(formatter, "  {tests}: up to {duration}, up to {} flows, {rate}", self.flows)?;
        let used = write_size(self.bytes_today);
        match (self.bytes_per_day, self.bytes_left) {
            (Some(most), Some(left)) => {
                writeln!(formatter, "  {used} of {} today (UTC), {} left", write_size(most), write_size(left))
            }
            _ => writeln!(formatter, "  {used} today (UTC), without a limit"),
        }
    }
}
