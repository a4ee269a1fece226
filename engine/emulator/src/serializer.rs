//! The transmitter of a link: one packet after the other, at a rate.

/// Nanoseconds × bit/s that one byte takes.
pub const BYTE: u64 = 8 * 1_000_000_000;

/// When packets are out. Exact: what a division leaves over is carried to the next packet, so the rate does not drift.
#[derive(Debug)]
pub struct Serializer {
    rate_bps: Option<u64>,
    /// When the last packet is out, rounded down to whole ns.
    free_at: u64,
    /// What was rounded away, in ns / `rate_bps`.
    remainder: u64,
}

impl Serializer {
    /// `None`: no time at all.
    pub fn new(rate_bps: Option<u64>) -> Self {
        Self { rate_bps, free_at: 0, remainder: 0 }
    }

    /// Takes a packet that arrived at `now`, in ns; returns when its last bit is out.
    pub fn send(&mut self, now: u64, bytes: u32) -> u64 {
        if now > self.free_at {
            self.free_at = now;
            self.remainder = 0;
        }
        if let Some(rate_bps) = self.rate_bps {
            let due = u64::from(bytes) * BYTE + self.remainder;
            self.free_at += due / rate_bps;
            self.remainder = due % rate_bps;
        }
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_divides_nothing_evenly_does_not_drift() {
        let mut serializer = Serializer::new(Some(7_000_003));
        let last = (0..1_000_000).map(|_| serializer.send(5, 1499)).last().unwrap();
        let exact = 5 + u128::from(BYTE) * 1499 * 1_000_000 / 7_000_003;
        assert_eq!(u128::from(last), exact);
    }

    #[test]
    fn time_that_nobody_used_is_not_made_up_for() {
        let mut serializer = Serializer::new(Some(8_000_000));
        assert_eq!(serializer.send(0, 1000), 1_000_000);
        assert_eq!(serializer.send(400_000, 1000), 2_000_000);
        assert_eq!(serializer.send(9_000_000, 1000), 10_000_000);
    }

    #[test]
    fn without_a_rate_packets_are_out_at_once() {
        let mut serializer = Serializer::new(None);
        assert_eq!(serializer.send(3, 65_535), 3);
        assert_eq!(serializer.send(4, 65_535), 4);
    }
}
