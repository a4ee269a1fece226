use std::io::{self, BufReader, Read, Seek, Write};

use sys::{TCP_INFO_BYTES, TcpInfo};
use tempfile::SpooledTempFile;

use super::Sample;
use crate::defaults::{SAMPLES_IN_MEMORY_BYTES, SAMPLES_MAX_BYTES};

const RECORD_BYTES: usize = 4 + 8 + 8 + 8 + 4 + TCP_INFO_BYTES;

/// Samples in fixed-size records: in memory at first, in an unnamed temporary file when they grow, bounded in any case.
pub struct SampleLog {
    spool: SpooledTempFile,
    rows: u64,
    rows_lost: u64,
    /// The disk took no more: what it has of the last record is not whole, so nothing may follow.
    broken: bool,
}

impl SampleLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self { spool: SpooledTempFile::new(SAMPLES_IN_MEMORY_BYTES), rows: 0, rows_lost: 0, broken: false }
    }

    /// Keeps a sample; counts it as lost if there is no room.
    pub fn push(&mut self, sample: &Sample) {
        let full = (self.rows + 1) * RECORD_BYTES as u64 > SAMPLES_MAX_BYTES;
        self.broken = self.broken || full || self.spool.write_all(&encode(sample)).is_err();
        if self.broken {
            self.rows_lost += 1;
        } else {
            self.rows += 1;
        }
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
    pub fn into_rows(self) -> io::Result<(u64, impl Iterator<Item = io::Result<Sample>>)> {
        let rows = self.rows;
        let mut spool = self.spool;
        spool.rewind()?;
        let mut reader = BufReader::with_capacity(64 << 10, spool);
        let read_one = move |_| {
            let mut record = [0; RECORD_BYTES];
            reader.read_exact(&mut record).map(|()| decode(&record))
        };
        Ok((rows, (0..rows).map(read_one)))
    }
}

fn encode(sample: &Sample) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    let info = sample.tcp_info.as_bytes();
    record[..4].copy_from_slice(&sample.flow.to_le_bytes());
    record[4..12].copy_from_slice(&sample.start_ns.to_le_bytes());
    record[12..20].copy_from_slice(&sample.end_ns.to_le_bytes());
    record[20..28].copy_from_slice(&sample.bytes.to_le_bytes());
    record[28..32].copy_from_slice(&u32::try_from(info.len()).unwrap_or(0).to_le_bytes());
    record[32..32 + info.len()].copy_from_slice(info);
    record
}

fn decode(record: &[u8; RECORD_BYTES]) -> Sample {
    let info_length = u32::from_le_bytes(array(&record[28..32])) as usize;
    Sample {
        flow: u32::from_le_bytes(array(&record[..4])),
        start_ns: i64::from_le_bytes(array(&record[4..12])),
        end_ns: i64::from_le_bytes(array(&record[12..20])),
        bytes: u64::from_le_bytes(array(&record[20..28])),
        tcp_info: TcpInfo::from_bytes(&record[32..32 + info_length.min(TCP_INFO_BYTES)]),
    }
}

fn array<const N: usize>(slice: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(slice);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut log = SampleLog::new();
        for flow in 0..1000 {
            let tcp_info = TcpInfo::from_bytes(&[u8::try_from(flow % 251).unwrap(); 104]);
            log.push(&Sample { flow, start_ns: -5, end_ns: i64::MAX, bytes: u64::MAX, tcp_info });
        }
        assert_eq!(log.rows_lost(), 0);
        let (rows, samples) = log.into_rows().unwrap();
        assert_eq!(rows, 1000);
        for (flow, sample) in (0..1000).zip(samples) {
            let sample = sample.unwrap();
            assert_eq!((sample.flow, sample.start_ns, sample.end_ns, sample.bytes), (flow, -5, i64::MAX, u64::MAX));
            assert_eq!(sample.tcp_info.as_bytes(), [u8::try_from(flow % 251).unwrap(); 104]);
        }
    }
}
