use std::collections::BTreeMap;

use wire::{RejectedConnections, Report, Role};

use super::{Log, Tabular, for_each_batch};
use crate::{Outbox, TrialError, host::Observed};

/// The tables of one end of a trial on their way, and how many rows of each have been handed over.
pub struct Delivery<'a> {
    trial: &'a str,
    role: Role,
    outbox: &'a dyn Outbox,
    /// Rows handed over, by the name of their table.
    rows: BTreeMap<String, u64>,
    /// Rows that could not be kept or read back.
    rows_lost: u64,
}

impl<'a> Delivery<'a> {
    /// Nothing so far.
    pub fn new(trial: &'a str, role: Role, outbox: &'a dyn Outbox) -> Self {
        Self { trial, role, outbox, rows: BTreeMap::new(), rows_lost: 0 }
    }

    /// Hands a table over.
    ///
    /// # Errors
    /// [`TrialError::Samples`], as [`for_each_batch`] says; what could be handed over was, the rest is counted as lost.
    pub fn deliver<R: Tabular>(&mut self, log: Log<R>) -> Result<(), TrialError> {
        let (kept, lost) = (log.rows(), log.rows_lost());
        let (rows, whole) = for_each_batch(log, self.trial, self.role, |batch| self.outbox.samples(batch));
        self.rows.insert(R::TABLE.into(), rows);
        self.rows_lost += lost + (kept - rows);
        whole.map_err(|error| TrialError::Samples(error.to_string()))
    }

    /// Hands over what was seen of the host; the report of an end that says nothing but this and what was handed over.
    pub fn report(mut self, observed: Observed) -> Report {
        // A trial is as good as its samples: CPU time that cannot be read back is only counted as lost.
        let _ = self.deliver(observed.cpu);
        Report {
            trial: self.trial.into(),
            role: self.role,
            origin_unix_ns: 0,
            flows: Vec::new(),
            rejected_connections: RejectedConnections::default(),
            table_rows: self.rows,
            rows_lost: self.rows_lost,
            counters: observed.counters,
            throttled_us: observed.throttled_us,
            far_side: None,
            remarks: Vec::new(),
            decided: None,
            incomplete: None,
        }
    }
}
