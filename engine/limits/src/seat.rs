//! The turn of a session, with what its ends hold.

use std::{collections::HashMap, time::Duration};

use wire::defaults::START_TIMEOUT;

use crate::{
    check::Held,
    defaults::OVERHEAD_MAX,
    moment::Moment,
    state::Locked,
    test_name::TestName,
    turns::{Place, Turn, Who},
};

/// A turn.
pub struct Seat {
    /// Where it is told.
    pub place: Place,
    turn: Turn,
    /// Nothing that begins within the turn ends later.
    pub no_later: Moment,
    ends: HashMap<u64, End>,
}

/// One of its ends.
pub struct End {
    /// What it has.
    pub held: Held,
    /// When it is over, at the latest.
    pub until: Moment,
}

impl Seat {
    /// Begins a turn, within which trials are as long as this, at most.
    ///
    /// # Errors
    /// Others cannot be told.
    pub fn take(locked: &Locked<'_>, who: &Who, longest: Duration, now: Moment) -> Result<Self, String> {
        let no_later = now.after(longest + OVERHEAD_MAX + START_TIMEOUT);
        let turn = Turn {
            who: who.clone(),
            tests: Vec::new(),
            begin_unix_s: now.0,
            until_unix_s: now.0,
            held: Held::default(),
        };
        Ok(Self { place: Place::at_point(locked, &turn)?, turn, no_later, ends: HashMap::new() })
    }

    /// What an end of a number is called, among all of the point.
    #[must_use]
    pub fn name(&self, number: u64) -> String {
        format!("{}-{number}", self.place.id)
    }

    /// Adds an end.
    ///
    /// # Errors
    /// Others cannot be told; it is not there.
    pub fn add(&mut self, locked: &Locked<'_>, number: u64, test: TestName, end: End) -> Result<(), String> {
        if !self.turn.tests.iter().any(|known| known == test.text()) {
            self.turn.tests.push(test.text().into());
        }
        self.ends.insert(number, end);
        self.tell(locked).inspect_err(|_| {
            self.ends.remove(&number);
        })
    }

    /// An end is over sooner.
    ///
    /// # Errors
    /// Others cannot be told.
    pub fn shorten(&mut self, locked: &Locked<'_>, number: u64, until: Moment) -> Result<(), String> {
        if let Some(end) = self.ends.get_mut(&number) {
            end.until = end.until.min(until);
        }
        self.tell(locked)
    }

    /// An end is over.
    pub fn remove(&mut self, number: u64) {
        self.ends.remove(&number);
    }

    /// Whether nothing is left to keep it for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What all ends have.
    #[must_use]
    pub fn held(&self) -> Held {
        self.ends.values().map(|end| end.held).fold(Held::default(), Held::and)
    }

    /// Tells others what it has, and until when.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn tell(&mut self, locked: &Locked<'_>) -> Result<(), String> {
        self.turn.held = self.held();
        self.turn.until_unix_s = self.ends.values().map(|end| end.until.0).max().unwrap_or(0);
        self.place.rewrite(locked, &self.turn)
    }
}
