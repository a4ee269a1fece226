//! As many random bytes as an encryption needs, from those that the caller has drawn: this crate has no source of them.

use std::convert::Infallible;

use rsa::rand_core::{TryCryptoRng, TryRng};
use sha2::{Digest, Sha256};

/// Random bytes that a caller passes in, drawn from the operating system for each call.
pub const RANDOM_BYTES: usize = 32;

/// SHA-256 of the random bytes and a counter, block by block (`Hashgen` of NIST SP 800-90A, 10.1.1.4, is its like).
pub struct Expansion {
    random: [u8; RANDOM_BYTES],
    blocks: u64,
    left: Vec<u8>,
}

impl Expansion {
    pub fn of(random: [u8; RANDOM_BYTES]) -> Self {
        Self { random, blocks: 0, left: Vec::new() }
    }

    fn next_byte(&mut self) -> u8 {
        if let Some(byte) = self.left.pop() {
            return byte;
        }
        let block = Sha256::new().chain_update(self.random).chain_update(self.blocks.to_be_bytes()).finalize();
        self.blocks += 1;
        self.left.extend_from_slice(&block[1..]);
        block[0]
    }

    fn next_bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next_byte())
    }
}

impl TryRng for Expansion {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_be_bytes(self.next_bytes()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_be_bytes(self.next_bytes()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| self.next_byte());
        Ok(())
    }
}

impl TryCryptoRng for Expansion {}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(random: [u8; RANDOM_BYTES]) -> [u8; 100] {
        Expansion::of(random).next_bytes()
    }

    #[test]
    fn no_two_blocks_and_no_two_callers_have_the_same() {
        let bytes = bytes_of([7; RANDOM_BYTES]);
        assert_eq!(bytes, bytes_of([7; RANDOM_BYTES]));
        assert_ne!(bytes, bytes_of([8; RANDOM_BYTES]));
        assert_ne!(bytes[..32], bytes[32..64]);
    }
}
