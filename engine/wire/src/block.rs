//! What goes over a connection that carries files: blocks of files, each behind a header that says where it belongs.

use thiserror::Error;

/// Length of a block's header, in bytes.
pub const BLOCK_HEADER_BYTES: usize = 44;

const MAGIC: [u8; 3] = *b"FSB";

/// What a header stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Nothing: it says how many files, `file`, with how many bytes in all, `file_bytes`, will come over all connections.
    Job,
    /// Bytes of a file, or nothing but their number where a trial sends none.
    Data,
    /// Nothing: the connection carries nothing more.
    End,
}

/// The beginning of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// What follows.
    pub kind: BlockKind,
    /// Number of the file, from 0.
    pub file: u32,
    /// Size of that file.
    pub file_bytes: u64,
    /// Where in the file the bytes belong.
    pub offset: u64,
    /// How many there are.
    pub length: u64,
    /// Of the bytes; 0 where nothing is compared.
    pub digest: u64,
}

/// Why bytes are no header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("what the source sent is no block of a file")]
pub struct NoBlock;

impl BlockHeader {
    /// As it goes over the wire.
    #[must_use]
    pub fn encode(&self) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[..3].copy_from_slice(&MAGIC);
        bytes[3] = match self.kind {
            BlockKind::Job => b'J',
            BlockKind::Data => b'D',
            BlockKind::End => b'E',
        };
        bytes[4..8].copy_from_slice(&self.file.to_be_bytes());
        for (place, number) in [self.file_bytes, self.offset, self.length, self.digest].into_iter().enumerate() {
            bytes[8 + place * 8..16 + place * 8].copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Reads the header of a block.
    ///
    /// # Errors
    /// It is none.
    pub fn decode(bytes: &[u8; BLOCK_HEADER_BYTES]) -> Result<Self, NoBlock> {
        let (magic, rest) = bytes.split_first_chunk::<3>().ok_or(NoBlock)?;
        let ([kind], rest) = rest.split_first_chunk::<1>().ok_or(NoBlock)?;
        let (file, mut rest) = rest.split_first_chunk::<4>().ok_or(NoBlock)?;
        let kind = match (magic, kind) {
            (&MAGIC, b'J') => BlockKind::Job,
            (&MAGIC, b'D') => BlockKind::Data,
            (&MAGIC, b'E') => BlockKind::End,
            _ => return Err(NoBlock),
        };
        let mut number = || {
            let (number, left) = rest.split_first_chunk::<8>().ok_or(NoBlock)?;
            rest = left;
            Ok(u64::from_be_bytes(*number))
        };
        Ok(Self {
            kind,
            file: u32::from_be_bytes(*file),
            file_bytes: number()?,
            offset: number()?,
            length: number()?,
            digest: number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_header_survives_the_wire(
            file: u32,
            numbers: [u64; 4],
            kind in prop::sample::select(vec![BlockKind::Job, BlockKind::Data, BlockKind::End]),
        ) {
            let [file_bytes, offset, length, digest] = numbers;
            let header = BlockHeader { kind, file, file_bytes, offset, length, digest };
            prop_assert_eq!(BlockHeader::decode(&header.encode()), Ok(header));
        }

        #[test]
        fn what_is_no_header_is_refused(bytes in prop::collection::vec(any::<u8>(), BLOCK_HEADER_BYTES)) {
            let mut bytes: [u8; BLOCK_HEADER_BYTES] = bytes.try_into().unwrap();
            bytes[2] = b'A';
            prop_assert_eq!(BlockHeader::decode(&bytes), Err(NoBlock));
        }
    }
}
