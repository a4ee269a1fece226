use std::{
    io::{self, BufReader, Read, Seek, Write},
    marker::PhantomData,
};

use tempfile::SpooledTempFile;

use super::Record;
use crate::defaults::LOG_IN_MEMORY_BYTES;

/// Records of fixed size: in memory at first, in an unnamed temporary file when they grow, bounded in any case.
pub struct Log<R> {
    spool: SpooledTempFile,
    rows: u64,
    rows_lost: u64,
    /// The disk took no more: what it has of the last record is not whole, so nothing may follow.
    broken: bool,
    record: Vec<u8>,
    kind: PhantomData<R>,
}

impl<R: Record> Log<R> {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        let spool = SpooledTempFile::new(LOG_IN_MEMORY_BYTES);
        let record = Vec::with_capacity(R::BYTES);
        Self { spool, rows: 0, rows_lost: 0, broken: false, record, kind: PhantomData }
    }

    /// Keeps a row; counts it as lost if there is no room.
    pub fn push(&mut self, row: &R) {
        self.record.clear();
        row.put(&mut self.record);
        debug_assert_eq!(self.record.len(), R::BYTES, "rows are found by the size of their records");
        let full = (self.rows + 1) * R::BYTES as u64 > R::LOG_MAX_BYTES;
        self.broken = self.broken || full || self.spool.write_all(&self.record).is_err();
        if self.broken {
            self.rows_lost += 1;
        } else {
            self.rows += 1;
        }
    }

    /// Rows that were kept.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows that could not be kept.
    #[must_use]
    pub fn rows_lost(&self) -> u64 {
        self.rows_lost
    }

    /// Ends writing: how many rows there are, and all of them, oldest first.
    ///
    /// # Errors
    /// What the temporary file's device says.
    pub fn into_rows(self) -> io::Result<(u64, impl Iterator<Item = io::Result<R>>)> {
        let Self { rows, mut spool, mut record, .. } = self;
        spool.rewind()?;
        record.resize(R::BYTES, 0);
        let mut reader = BufReader::with_capacity(64 << 10, spool);
        let read_one = move |_| reader.read_exact(&mut record).map(|()| R::take(&mut &record[..]));
        Ok((rows, (0..rows).map(read_one)))
    }
}

#[cfg(test)]
impl<R> Log<R> {
    /// As if this many rows had not been kept.
    pub fn lose(&mut self, rows: u64) {
        self.rows_lost += rows;
    }
}

#[cfg(test)]
mod tests {
    use sys::TcpInfo;
    use wire::Role;

    use super::*;
    use crate::{
        defaults::SAMPLE_BATCH_ROWS,
        samples::{Field, Sample, for_each_batch},
    };

    #[test]
    fn rows_that_cannot_be_read_back_do_not_take_those_before_them_along() {
        let mut log = Log::new();
        for flow in 0..20_000 {
            let tcp_info = TcpInfo::from_bytes(&[]);
            log.push(&Sample { flow, start_ns: 0, end_ns: 1, bytes: 0, tcp_info, bbr: None });
        }
        log.rows += 1;
        let mut batches = 0;
        let (rows, whole) = for_each_batch(log, "t", Role::Sink, |_| batches += 1);
        assert!(whole.is_err());
        assert_eq!((rows, batches), (SAMPLE_BATCH_ROWS as u64, 1));
    }

    struct Large;

    impl Field for Large {
        const BYTES: usize = 1000;

        fn put(&self, record: &mut Vec<u8>) {
            record.resize(record.len() + Self::BYTES, 7);
        }

        fn take(_: &mut &[u8]) -> Self {
            Self
        }
    }

    impl Record for Large {
        const LOG_MAX_BYTES: u64 = 2500;
    }

    #[test]
    fn a_log_that_is_full_counts_what_it_loses() {
        let mut log = Log::new();
        for _ in 0..5 {
            log.push(&Large);
        }
        assert_eq!(log.rows_lost(), 3);
        assert_eq!(log.into_rows().unwrap().0, 2);
    }
}
