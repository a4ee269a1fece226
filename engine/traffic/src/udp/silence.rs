//! How long a flow has been silent, as far as its thread was there to hear it. No socket, no clock.

use std::time::Duration;

use wire::UdpSettings;

use crate::{defaults::SILENCE_OF_PASS, pacing::Gap, time::nanoseconds};

/// How long a flow may say nothing: a slow one is silent between its datagrams, and longer where one is lost.
pub fn silence_of(settings: &UdpSettings) -> Duration {
    let gap = Gap::of(settings.length_bytes, settings.rate_bps, settings.spacing_ns);
    three_gaps_or(Duration::from_micros(settings.silence_timeout_us), gap)
}

fn three_gaps_or(silence: Duration, gap: Option<Gap>) -> Duration {
    silence.max(Duration::from_nanos(gap.map_or(0, |gap| gap.span_ns(1).saturating_mul(3))))
}

/// What a sink's thread has seen of silence. A host that was away for a while has seen none: what arrived meanwhile still
/// waits to be received, and so may a source that was held up with it.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// How long nothing was received, in nanoseconds; of each pass of the thread not more than [`SILENCE_OF_PASS`].
    pub seen_ns: i64,
    looked_ns: i64,
}

impl Silence {
    /// From now on.
    pub fn from(now_ns: i64) -> Self {
        Self { seen_ns: 0, looked_ns: now_ns }
    }

    /// The thread has looked at the socket once more, and nothing was received.
    pub fn lasts(&mut self, now_ns: i64) {
        let passed_ns = now_ns.saturating_sub(self.looked_ns).clamp(0, nanoseconds(SILENCE_OF_PASS));
        self.seen_ns = self.seen_ns.saturating_add(passed_ns);
        self.looked_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_slow_flow_may_be_silent_for_three_of_its_gaps() {
        let silence = Duration::from_secs(10);
        assert_eq!(three_gaps_or(silence, None), silence);
        assert_eq!(three_gaps_or(silence, Gap::of(1250, Some(1_000_000), None)), silence);
        assert_eq!(three_gaps_or(silence, Gap::of(1250, Some(1_000), None)), Duration::from_secs(30));
    }

    #[test]
    fn a_thread_that_looks_often_has_seen_all_of_it() {
        let mut silence = Silence::from(7 * MS);
        (1..=20).for_each(|pass| silence.lasts(7 * MS + pass * 50 * MS));
        assert_eq!(silence.seen_ns, 1000 * MS);
    }

    #[test]
    fn a_host_that_was_away_has_not() {
        let mut silence = Silence::from(0);
        silence.lasts(3000 * MS);
        assert_eq!(silence.seen_ns, 100 * MS);
        silence.lasts(2999 * MS);
        assert_eq!(silence.seen_ns, 100 * MS, "time does not run backwards");
    }
}
