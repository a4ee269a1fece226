//! Refusals for the log: of each address the first ones of a while as they come, all further ones as a number. `now` is an
//! argument: nothing here looks at a clock.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    defaults::{REFUSALS_LOGGED, REFUSALS_LOOK, REFUSALS_ORIGINS_MAX, REFUSALS_WINDOW},
    origin::Origin,
};

/// Refusals that were logged, and that are still to be.
#[derive(Default)]
pub struct Refusals {
    known: HashMap<Origin, While>,
    /// From addresses that there was no room for.
    others: u64,
    others_since: Option<Instant>,
    looked: Option<Instant>,
}

struct While {
    since: Instant,
    logged: u32,
    more: u64,
    reason: String,
}

impl Refusals {
    /// Somebody was refused; returns whether that is to be logged now.
    pub fn note(&mut self, origin: Origin, reason: &str, now: Instant) -> bool {
        let full = self.known.len() >= REFUSALS_ORIGINS_MAX;
        let Some(known) = self.known.get_mut(&origin) else {
            if full {
                self.others += 1;
                self.others_since.get_or_insert(now);
                return false;
            }
            self.known.insert(origin, While { since: now, logged: 1, more: 0, reason: String::new() });
            return true;
        };
        if known.logged < REFUSALS_LOGGED {
            known.logged += 1;
            return true;
        }
        known.more += 1;
        if known.reason != reason {
            reason.clone_into(&mut known.reason);
        }
        false
    }

    /// The rows to log of whiles that are over; looked at once in [`REFUSALS_LOOK`].
    pub fn summaries(&mut self, now: Instant) -> Vec<Value> {
        if self.looked.is_some_and(|looked| now < looked + REFUSALS_LOOK) {
            return Vec::new();
        }
        self.looked = Some(now);
        let over = |since: Instant| now.saturating_duration_since(since) >= REFUSALS_WINDOW;
        let mut rows = Vec::new();
        self.known.retain(|origin, known| {
            let stays = !over(known.since);
            if !stays && known.more > 0 {
                rows.push(row(&origin.to_string(), known.more, &known.reason, now - known.since));
            }
            stays
        });
        if let Some(since) = self.others_since.filter(|since| over(*since)) {
            rows.push(row("others", self.others, "too many addresses to name each", now - since));
            (self.others, self.others_since) = (0, None);
        }
        rows
    }
}

fn row(client: &str, count: u64, reason: &str, took: Duration) -> Value {
    json!({ "client": client, "count": count, "error": reason, "seconds": took.as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn origin(number: u32) -> Origin {
        IpAddr::from(Ipv4Addr::from_bits(number)).into()
    }

    #[test]
    fn a_flood_of_one_address_is_a_number_and_others_are_logged() {
        let (mut refusals, begin) = (Refusals::default(), Instant::now());
        let logged = (0..30_000).filter(|_| refusals.note(origin(1), "busy", begin)).count();
        assert_eq!(logged, REFUSALS_LOGGED as usize);
        assert!(refusals.note(origin(2), "busy", begin));
        assert!(refusals.summaries(begin).is_empty());
        let rows = refusals.summaries(begin + REFUSALS_WINDOW);
        assert_eq!(rows.len(), 1, "of the other one all was logged");
        assert_eq!((&rows[0]["client"], &rows[0]["error"]), (&json!("0.0.0.1"), &json!("busy")));
        assert_eq!(rows[0]["count"], 30_000 - u64::from(REFUSALS_LOGGED));
        assert!(refusals.note(origin(1), "busy", begin + REFUSALS_WINDOW), "a new while");
    }

    #[test]
    fn a_flood_of_addresses_takes_a_bounded_memory() {
        let (mut refusals, begin) = (Refusals::default(), Instant::now());
        let logged = (0..100_000).filter(|number| refusals.note(origin(*number), "busy", begin)).count();
        assert_eq!((logged, refusals.known.len()), (REFUSALS_ORIGINS_MAX, REFUSALS_ORIGINS_MAX));
        let rows = refusals.summaries(begin + REFUSALS_WINDOW);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["count"], 100_000 - REFUSALS_ORIGINS_MAX);
        assert!(refusals.known.is_empty());
    }
}
