//! The table `cpu`: one row is one core or thread, one interval.

use crate::{
    defaults::CPU_ROWS_MAX_BYTES,
    samples::{Column, Field, Record, Tabular, record},
};

/// What CPU time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A core of the host, by its number.
    Core(i32),
    /// A thread of the trial, by the index of its flow; -1 is the coordinator.
    Thread(i32),
}

/// CPU time in an interval. Times in microseconds; what is not known of a core or of a thread is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRow {
    /// Beginning of the interval, in nanoseconds since this end's origin.
    pub start_ns: i64,
    /// End of the interval, exclusive, in nanoseconds since this end's origin.
    pub end_ns: i64,
    /// Whose it is.
    pub of: Of,
    /// The values, in the order of [`VALUE_COLUMNS`].
    pub values: [Option<u64>; VALUE_COLUMNS.len()],
}

/// Name, unit, whether it may be absent, and meaning of each value.
#[rustfmt::skip]
pub const VALUE_COLUMNS: [(&str, &str, bool, &str); 9] = [
    ("user_us", "us", false, "Time in user mode. The kernel counts cores in ticks of 10 ms; a thread's sum of user and system is exact, its split an estimate from ticks."),
    ("system_us", "us", false, "Time in the kernel on behalf of a thread. Softirqs that run on its back are a core's softirq_us, and are in the thread's time too where the kernel does not account interrupts separately."),
    ("softirq_us", "us", true, "Time of a core in software interrupts: most of what receiving costs. Absent for a thread."),
    ("irq_us", "us", true, "Time of a core in hardware interrupts. Absent for a thread."),
    ("steal_us", "us", true, "Time the hypervisor took from a core that had work. Not in busy_us. Absent for a thread."),
    ("idle_us", "us", true, "Time a core had nothing to do, waiting for a disk included. Absent for a thread."),
    ("busy_us", "us", false, "Sum of user, system, softirq and irq."),
    ("voluntary_switches", "switches", true, "How often the thread gave the CPU away, most often to wait. Absent for a core."),
    ("involuntary_switches", "switches", true, "How often the CPU was taken from the thread. Absent for a core."),
];

impl Field for Of {
    const BYTES: usize = u8::BYTES + i32::BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        let (kind, id) = match self {
            Self::Core(id) => (0_u8, id),
            Self::Thread(id) => (1, id),
        };
        kind.put(record);
        id.put(record);
    }

    fn take(rest: &mut &[u8]) -> Self {
        let (kind, id) = (u8::take(rest), i32::take(rest));
        if kind == 0 { Self::Core(id) } else { Self::Thread(id) }
    }
}

record!(CpuRow { start_ns: i64, end_ns: i64, of: Of, values: [Option<u64>; VALUE_COLUMNS.len()] });

impl Record for CpuRow {
    const LOG_MAX_BYTES: u64 = CPU_ROWS_MAX_BYTES;
}

impl Tabular for CpuRow {
    const TABLE: &'static str = "cpu";
    const TITLE: &'static str = "CPU time: one row is one core or thread, one end, one interval";

    fn columns() -> Vec<Column<Self>> {
        let keys = [
            Column::role("Which end saw this: source or sink."),
            Column::int64(
                "start_ns",
                "ns",
                "Beginning of the interval, since this end's origin. A thread's begins when it last looked, a core's when \
                 the coordinator did.",
                |row: &Self| row.start_ns,
            ),
            Column::int64("end_ns", "ns", "End of the interval, exclusive, since this end's origin.", |row: &Self| {
                row.end_ns
            }),
            Column::text(
                "kind",
                "core: of the host, whoever used it. thread: of the engine, for this trial alone.",
                |row: &Self| if matches!(row.of, Of::Core(_)) { "core" } else { "thread" },
            ),
            Column::int32(
                "id",
                "",
                "Number of the core, or index of the thread's flow; -1 is the coordinator of the end.",
                |row: &Self| match row.of {
                    Of::Core(id) | Of::Thread(id) => id,
                },
            ),
        ];
        let values = VALUE_COLUMNS.into_iter().enumerate().map(|(index, (name, unit, nullable, meaning))| {
            let value = move |row: &Self| row.values[index].map(u64::cast_signed);
            Column::int64_if_any(name, unit, meaning, value).nullable(nullable)
        });
        keys.into_iter().chain(values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        for of in [Of::Core(255), Of::Thread(-1)] {
            let mut values = [Some(7); VALUE_COLUMNS.len()];
            values[8] = None;
            let row = CpuRow { start_ns: -1, end_ns: i64::MAX, of, values };
            assert_kept(&[row]);
        }
    }
}
