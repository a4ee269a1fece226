//! What a rule says to a demand: a grant, or a refusal.

use serde::{Deserialize, Serialize};
use wire::Role;

use crate::{
    Rule,
    defaults::{FLOW_SAMPLES_PER_S, FLOWS},
    demand::{Demand, Rate},
    moment::Moment,
    refusal::Refusal,
    test_name::TestName,
    units::write_rate,
};

/// Slowest pacing of a flow, in bit/s: the kernel counts bytes.
const PACING_MIN_BPS: u64 = 8;

/// What a controller has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Flows of all its ends.
    pub flows: u64,
    /// Rate of all its ends that have one.
    pub rate_bps: u64,
    /// Samples of all its ends, a second. Engines of earlier versions do not say it.
    #[serde(default)]
    pub samples_per_s: u64,
}

impl Held {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            flows: self.flows.saturating_add(other.flows),
            rate_bps: self.rate_bps.saturating_add(other.rate_bps),
            samples_per_s: self.samples_per_s.saturating_add(other.samples_per_s),
        }
    }
}

/// What is granted to one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Rate of all its flows, in bit/s, as far as there is one.
    pub rate_bps: Option<u64>,
    /// What each of its flows is held to, since it stated no rate, in bit/s.
    pub paced_bps: Option<u64>,
    /// What each of its flows stated, in bit/s, where a rule has a rate: blocks go out no faster, either.
    pub stated_bps: Option<u64>,
    /// What it carries, at most, where that is known.
    pub bytes: Option<u64>,
    /// A rule has so many bytes of a day.
    pub counted: bool,
}

impl Grant {
    /// What both grant: the lower pace; what may be carried under either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lower = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            rate_bps: lower(self.rate_bps, other.rate_bps),
            paced_bps: lower(self.paced_bps, other.paced_bps),
            stated_bps: lower(self.stated_bps, other.stated_bps),
            bytes: self.bytes.max(other.bytes),
            counted: self.counted || other.counted,
        }
    }
}

impl Rule {
    /// What this rule grants.
    ///
    /// # Arguments
    /// `held`: what the controller has already; `used_bytes`: of today, reservations included.
    ///
    /// # Errors
    /// [`Refusal::Limit`]: the first limit that is exceeded.
    pub fn grant(&self, demand: &Demand, held: Held, used_bytes: u64, now: Moment) -> Result<Grant, Refusal> {
        if !self.tests.contains(&demand.test) {
            return Err(self.refuse("tests", demand.test.text().into(), TestName::list(&self.tests)));
        }
        let flows = held.flows.saturating_add(demand.flows.into());
        if flows > self.flows.into() {
            return Err(Refusal::flows(&self.name, flows, self.flows));
        }
        let samples = held.samples_per_s.saturating_add(demand.samples_per_s);
        let most = u64::from(self.flows.max(FLOWS)) * FLOW_SAMPLES_PER_S;
        if samples > most {
            return Err(Refusal::samples(&self.name, samples, most));
        }
        if demand.duration_us > self.duration_us {
            return Err(Refusal::duration(&self.name, demand.duration_us, self.duration_us));
        }
        self.check_hours(demand, now)?;
        let grant = self.grant_rate(demand, held)?;
        self.grant_bytes(demand, grant, used_bytes, now)
    }

    fn check_hours(&self, demand: &Demand, now: Moment) -> Result<(), Refusal> {
        let end = Moment(now.0.saturating_add(demand.duration_us.saturating_add(demand.pad_us).div_ceil(1_000_000)));
        if self.between.holds(now, end) {
            return Ok(());
        }
        let asked = format!("a trial from {} to {}", now.rfc3339(), end.rfc3339());
        let allowed = format!("trials that lie within {}", self.between.text());
        Err(Refusal::limit(&self.name, "between", asked, allowed, self.between.opens(now)))
    }

    fn grant_rate(&self, demand: &Demand, held: Held) -> Result<Grant, Refusal> {
        match (self.rate_bps, demand.rate) {
            (None, Rate::Stated(rate)) => Ok(Grant { rate_bps: Some(rate), ..Grant::default() }),
            (None, _) => Ok(Grant::default()),
            (Some(most), Rate::Stated(rate)) => {
                let all = held.rate_bps.saturating_add(rate);
                if all > most {
                    return Err(Refusal::rate(&self.name, all, most));
                }
                let each = (rate / u64::from(demand.flows.max(1))).max(PACING_MIN_BPS);
                let stated_bps = Some(each).filter(|_| demand.role == Role::Source);
                Ok(Grant { rate_bps: Some(rate), stated_bps, ..Grant::default() })
            }
            (Some(most), Rate::Open) if demand.role == Role::Source => {
                let each = most.saturating_sub(held.rate_bps) / u64::from(demand.flows.max(1));
                if each < PACING_MIN_BPS {
                    return Err(Refusal::rate(&self.name, most.saturating_add(PACING_MIN_BPS), most));
                }
                let rate_bps = Some(each * u64::from(demand.flows.max(1)));
                Ok(Grant { rate_bps, paced_bps: Some(each), ..Grant::default() })
            }
            (Some(most), Rate::Open) => {
                let asked = "no rate, where this end receives and cannot hold the sender back";
                let allowed = format!("a stated one of at most {} of all flows", write_rate(most));
                Err(self.refuse("rate", asked.into(), allowed))
            }
            (Some(most), Rate::Bursts) => {
                let asked = format!("{} as fast as it can be sent", demand.test.text());
                let allowed = match demand.test {
                    TestName::Path => "no trains and no streams".into(),
                    _ => format!("a stated rate of at most {} of all flows", write_rate(most)),
                };
                Err(self.refuse("rate", asked, allowed))
            }
        }
    }

    fn grant_bytes(&self, demand: &Demand, grant: Grant, used: u64, now: Moment) -> Result<Grant, Refusal> {
        let of_rate = grant.rate_bps.map(|rate| demand.bytes_at(rate, grant.paced_bps.is_some()));
        let grant = Grant { bytes: demand.bytes.or(of_rate), counted: self.bytes_per_day.is_some(), ..grant };
        match (self.bytes_per_day, grant.bytes) {
            (None, _) => Ok(grant),
            (Some(most), Some(bytes)) if used.saturating_add(bytes) <= most => Ok(grant),
            (Some(most), Some(bytes)) => Err(Refusal::bytes(&self.name, bytes, used, most, now)),
            (Some(_), None) => {
                let asked = "bytes without an end: the plan states no rate";
                Err(self.refuse("bytes_per_day", asked.into(), "trials with a rate, whose bytes are known".into()))
            }
        }
    }

    fn refuse(&self, key: &'static str, asked: String, allowed: String) -> Refusal {
        Refusal::limit(&self.name, key, asked, allowed, None)
    }
}
