use std::collections::BTreeMap;

use arrow_schema::ArrowError;
use wire::Role;

use super::{Log, Tabular, for_each_batch};
use crate::Outbox;

/// The tables of one end of a trial on their way, and how many rows of each have been handed over.
pub struct Delivery<'a> {
    trial: &'a str,
    role: Role,
    outbox: &'a dyn Outbox,
    /// Rows handed over, by the name of their table.
    pub rows: BTreeMap<String, u64>,
    /// Rows that could not be kept or read back.
    pub rows_lost: u64,
}

impl<'a> Delivery<'a> {
    /// Nothing so far.
    pub fn new(trial: &'a str, role: Role, outbox: &'a dyn Outbox) -> Self {
        Self { trial, role, outbox, rows: BTreeMap::new(), rows_lost: 0 }
    }

    /// Hands a table over.
    ///
    /// # Errors
    /// As [`for_each_batch`]; what could be handed over was, the rest is counted as lost.
    pub fn deliver<R: Tabular>(&mut self, log: Log<R>) -> Result<(), ArrowError> {
        let (kept, lost) = (log.rows(), log.rows_lost());
        let (rows, whole) = for_each_batch(log, self.trial, self.role, |batch| self.outbox.samples(batch));
        self.rows.insert(R::TABLE.into(), rows);
        self.rows_lost += lost + (kept - rows);
        whole
    }
}
