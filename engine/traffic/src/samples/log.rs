use std::{
    io::{self, BufReader, Read, Seek, Write},
    marker::PhantomData,
};

use sys::{BbrInfo, TCP_INFO_BYTES, TcpInfo};
use tempfile::SpooledTempFile;

use super::sample::Sample;
use crate::defaults::{LOG_IN_MEMORY_BYTES, SAMPLES_MAX_BYTES};

/// Something that is kept in records of one size while a trial runs.
pub trait Record: Sized {
    /// Size of a record.
    const BYTES: usize;
    /// What a log of them may hold at all, in bytes; what comes after is counted as lost.
    const LOG_MAX_BYTES: u64;
    /// Appends exactly [`Record::BYTES`].
    fn encode(&self, record: &mut Vec<u8>);
    /// The other way; `record` has [`Record::BYTES`].
    fn decode(record: &[u8]) -> Self;
}

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
        row.encode(&mut self.record);
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
        let read_one = move |_| reader.read_exact(&mut record).map(|()| R::decode(&record));
        Ok((rows, (0..rows).map(read_one)))
    }
}

/// Takes the next `N` bytes off a record.
pub fn take<const N: usize>(record: &mut &[u8]) -> [u8; N] {
    let (taken, rest) = record.split_first_chunk().map_or(([0; N], &[][..]), |(taken, rest)| (*taken, rest));
    *record = rest;
    taken
}

/// Stands in a record for what bbr would say.
const NO_BBR: u64 = u64::MAX;

impl Record for Sample {
    const BYTES: usize = 4 + 8 + 8 + 8 + (8 + 4 + 4 + 4) + 4 + TCP_INFO_BYTES;
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;

    fn encode(&self, record: &mut Vec<u8>) {
        let begin = record.len();
        let info = self.tcp_info.as_bytes();
        let bbr = self.bbr.unwrap_or(BbrInfo { bandwidth_bytes_per_s: NO_BBR, ..BbrInfo::default() });
        record.extend(self.flow.to_le_bytes());
        record.extend(self.start_ns.to_le_bytes());
        record.extend(self.end_ns.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(bbr.bandwidth_bytes_per_s.to_le_bytes());
        record.extend(bbr.min_rtt_us.to_le_bytes());
        record.extend(bbr.pacing_gain.to_le_bytes());
        record.extend(bbr.cwnd_gain.to_le_bytes());
        record.extend(u32::try_from(info.len()).unwrap_or(0).to_le_bytes());
        record.extend(info);
        record.resize(begin + Self::BYTES, 0);
    }

    fn decode(mut record: &[u8]) -> Self {
        let rest = &mut record;
        let flow = u32::from_le_bytes(take(rest));
        let start_ns = i64::from_le_bytes(take(rest));
        let end_ns = i64::from_le_bytes(take(rest));
        let bytes = u64::from_le_bytes(take(rest));
        let bbr = BbrInfo {
            bandwidth_bytes_per_s: u64::from_le_bytes(take(rest)),
            min_rtt_us: u32::from_le_bytes(take(rest)),
            pacing_gain: u32::from_le_bytes(take(rest)),
            cwnd_gain: u32::from_le_bytes(take(rest)),
        };
        let bbr = (bbr.bandwidth_bytes_per_s != NO_BBR).then_some(bbr);
        let info_length = u32::from_le_bytes(take(rest)) as usize;
        let tcp_info = TcpInfo::from_bytes(&rest[..info_length.min(rest.len())]);
        Self { flow, start_ns, end_ns, bytes, tcp_info, bbr }
    }
}

#[cfg(test)]
mod tests {
    use wire::Role;

    use super::*;
    use crate::{defaults::SAMPLE_BATCH_ROWS, samples::for_each_batch};

    #[test]
    fn what_goes_in_comes_out() {
        let mut log = Log::new();
        let bbr = BbrInfo { bandwidth_bytes_per_s: 1 << 40, min_rtt_us: 2, pacing_gain: 739, cwnd_gain: 4 };
        for flow in 0..1000 {
            let tcp_info = TcpInfo::from_bytes(&[u8::try_from(flow % 251).unwrap(); 104]);
            let bbr = (flow % 2 == 0).then_some(bbr);
            log.push(&Sample { flow, start_ns: -5, end_ns: i64::MAX, bytes: u64::MAX, tcp_info, bbr });
        }
        assert_eq!(log.rows_lost(), 0);
        let (rows, samples) = log.into_rows().unwrap();
        assert_eq!(rows, 1000);
        for (flow, sample) in (0..1000).zip(samples) {
            let sample: Sample = sample.unwrap();
            assert_eq!((sample.flow, sample.start_ns, sample.end_ns, sample.bytes), (flow, -5, i64::MAX, u64::MAX));
            assert_eq!(sample.tcp_info.as_bytes(), [u8::try_from(flow % 251).unwrap(); 104]);
            assert_eq!(sample.bbr, (flow % 2 == 0).then_some(bbr));
        }
    }

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

    impl Record for Large {
        const BYTES: usize = 1000;
        const LOG_MAX_BYTES: u64 = 2500;

        fn encode(&self, record: &mut Vec<u8>) {
            record.resize(record.len() + Self::BYTES, 7);
        }

        fn decode(_: &[u8]) -> Self {
            Self
        }
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
