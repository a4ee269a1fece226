use std::collections::BTreeMap;

use arrow_schema::ArrowError;
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
    /// Rows that could not be kept or read back, but those of CPU time.
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
        let (lost, whole) = self.hand_over(log);
        self.rows_lost += lost;
        whole.map_err(|error| TrialError::Samples(error.to_string()))
    }

    /// Hands over what was seen of the host; the report of an end that says nothing but this, what was handed over, and
    /// what else is to be remarked.
    pub fn report(mut self, observed: Observed, mut remarks: Vec<String>) -> Report {
        // A trial is as good as its samples: CPU time that cannot be kept or read back takes nothing from them.
        let (lost, _) = self.hand_over(observed.cpu);
        if lost > 0 {
            remarks
                .push(format!("{lost} rows of CPU time could not be kept or read back: what CPU did is told in part"));
        }
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
            remarks,
            decided: None,
            incomplete: None,
        }
    }

    /// Hands a table over. Returns how many of its rows are lost, and why what was kept could not all be read back.
    fn hand_over<R: Tabular>(&mut self, log: Log<R>) -> (u64, Result<(), ArrowError>) {
        let (kept, lost) = (log.rows(), log.rows_lost());
        let (rows, whole) = for_each_batch(log, self.trial, self.role, |batch| self.outbox.samples(batch));
        self.rows.insert(R::TABLE.into(), rows);
        (lost + (kept - rows), whole)
    }
}

#[cfg(test)]
mod tests {
    use wire::Event;

    use super::*;
    use crate::samples::{Sample, SampleBatch};

    struct Nobody;

    impl Outbox for Nobody {
        fn event(&self, _: Event) {}
        fn samples(&self, _: SampleBatch) {}
    }

    fn report(samples_lost: u64, cpu_lost: u64) -> Report {
        let mut tables = Delivery::new("t", Role::Sink, &Nobody);
        let mut samples = Log::<Sample>::new();
        samples.lose(samples_lost);
        tables.deliver(samples).unwrap();
        let mut cpu = Log::new();
        cpu.lose(cpu_lost);
        tables.report(Observed { cpu, counters: BTreeMap::new(), throttled_us: None }, vec!["seen".into()])
    }

    #[test]
    fn lost_samples_are_counted_and_lost_rows_of_cpu_time_remarked() {
        let report_of = |samples_lost, cpu_lost| {
            let report = report(samples_lost, cpu_lost);
            (report.rows_lost, report.remarks.len())
        };
        assert_eq!(report_of(0, 0), (0, 1));
        assert_eq!(report_of(5, 0), (5, 1));
        assert_eq!(report_of(0, 7), (0, 2));
        assert!(report(0, 7).remarks[1].starts_with("7 rows of CPU time"));
    }
}
