//! Interarrival jitter of one flow, as RFC 3550 estimates it. No socket, no clock.

/// The estimate so far (RFC 3550, 6.4.1; RFC 1889, A.8, is the same).
#[derive(Debug, Default)]
pub struct Jitter {
    /// From sending to arrival, of the one before; the two clocks may count from different times.
    last_transit_ns: Option<i64>,
    mean_ns: f64,
    observed: bool,
}

impl Jitter {
    /// A datagram that was sent at a time has arrived. In the order of arrival: one that was overtaken counts like the
    /// others.
    pub fn take(&mut self, arrived_ns: i64, sent_ns: i64) {
        let transit_ns = arrived_ns.saturating_sub(sent_ns);
        if let Some(last_ns) = self.last_transit_ns.replace(transit_ns) {
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let change_ns = transit_ns.saturating_sub(last_ns).unsigned_abs() as f64;
            self.mean_ns += (change_ns - self.mean_ns) / 16.0;
            self.observed = true;
        }
    }

    /// One has arrived nobody knows when: the next change is that to the one after it.
    pub fn skip(&mut self) {
        self.last_transit_ns = None;
    }

    /// Leaves out what has come so far.
    pub fn begin_again(&mut self) {
        self.mean_ns = 0.0;
    }

    /// The estimate, in nanoseconds; nothing before the second datagram.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of sizes")]
        let mean_ns = self.mean_ns.round() as u64;
        self.observed.then_some(mean_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[(i64, i64)]) -> Jitter {
        let mut jitter = Jitter::default();
        for (arrived_ns, sent_ns) in times {
            jitter.take(*arrived_ns, *sent_ns);
        }
        jitter
    }

    #[test]
    fn it_is_that_of_rfc_3550() {
        assert_eq!(of(&[(1_000, 0)]).ns(), None);
        assert_eq!(of(&[(1_000, 0), (2_600, 1_000)]).ns(), Some(38), "600 / 16");
        assert_eq!(of(&[(1_000, 0), (2_600, 1_000), (3_600, 2_000)]).ns(), Some(35), "an even spacing lets it fall");
    }

    #[test]
    fn one_that_begins_again_knows_nothing_of_what_was_before() {
        let mut jitter = of(&[(1_000, 0), (900_000, 1_000), (901_000, 2_000)]);
        jitter.begin_again();
        jitter.take(902_600, 3_000);
        assert_eq!(jitter.ns(), Some(38), "600 / 16");
    }

    #[test]
    fn an_unknown_time_is_in_no_change() {
        let mut jitter = of(&[(5, 0), (1_005, 1_000)]);
        jitter.skip();
        jitter.take(900_005, 3_000);
        jitter.take(901_005, 4_000);
        assert_eq!(jitter.ns(), Some(0));
    }

    #[test]
    fn times_that_make_no_sense_are_borne() {
        assert!(of(&[(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, 0)]).ns() > Some(0));
    }
}
