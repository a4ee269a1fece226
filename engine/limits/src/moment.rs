//! Moments of the wall clock as text, and times of the day. All of it is UTC: an engine is static and knows no time zones.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// A moment, in whole seconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Moment {
    /// What the wall clock shows.
    #[must_use]
    pub fn now() -> Self {
        Self(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    /// So much later, rounded up.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)))
    }

    /// `2026-11-26`.
    #[must_use]
    pub fn day(self) -> String {
        let (year, month, day) = civil(self.0 / DAY_S);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2026-11-26T05:17:09Z` (RFC 3339).
    #[must_use]
    pub fn rfc3339(self) -> String {
        let second = self.0 % DAY_S;
        format!("{}T{:02}:{:02}:{:02}Z", self.day(), second / 3600, second / 60 % 60, second % 60)
    }

    /// When the next day begins.
    #[must_use]
    pub fn next_day(self) -> Self {
        Self((self.0 / DAY_S + 1).saturating_mul(DAY_S))
    }

    fn minute_of_day(self) -> u64 {
        self.0 % DAY_S / 60
    }
}

/// A part of every day, `22:00-06:00`: from the first minute to before the second one, over midnight too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: u64,
    to: u64,
}

impl Hours {
    /// Reads `HH:MM-HH:MM`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute(from)?, minute(to)?);
        (from != to && from < DAY_S / 60).then_some(Self { from, to: to % (DAY_S / 60) })
    }

    /// As it was written.
    #[must_use]
    pub fn text(self) -> String {
        let written = |minute: u64| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{}-{}", written(self.from), written(self.to))
    }

    fn holds(self, minute: u64) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// Whether all of a time lies within some hours; without any, it does.
#[must_use]
pub fn within(hours: &[Hours], begin: Moment, end: Moment) -> bool {
    let open = |moment: Moment| hours.iter().any(|hours| hours.holds(moment.minute_of_day()));
    let last = Moment(end.0.saturating_sub(1).max(begin.0));
    // Every minute of it, of one day at most: what lasts longer has every minute of the day.
    let later = (1..=DAY_S / 60).map(|minutes| Moment(begin.0 + minutes * 60)).take_while(|moment| *moment <= last);
    hours.is_empty() || (open(begin) && open(last) && later.into_iter().all(open))
}

/// When the next of some hours begin.
#[must_use]
pub fn opens(hours: &[Hours], now: Moment) -> Option<Moment> {
    let begins = |hours: &Hours| {
        let day = now.0 - now.0 % DAY_S;
        let today = day + hours.from * 60;
        Moment(if today > now.0 { today } else { today + DAY_S })
    };
    hours.iter().map(begins).min()
}

fn minute(text: &str) -> Option<u64> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str, most: u64| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|number| digits && *number <= most)
    };
    let (hour, minute) = (number(hour, 24)?, number(minute, 59)?);
    (hour < 24 || minute == 0).then_some(hour * 60 + minute)
}

/// Year, month and day of a number of days since 1970 (H. Hinnant, `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-26 05:17:09.
    const NOW: Moment = Moment(1_795_670_229);

    #[test]
    fn moments_are_written() {
        assert_eq!(NOW.rfc3339(), "2026-11-26T05:17:09Z");
        assert_eq!(Moment(951_782_400).day(), "2000-02-29");
        assert_eq!(NOW.next_day().rfc3339(), "2026-11-27T00:00:00Z");
        assert_eq!(NOW.after(Duration::from_millis(1)).0, NOW.0 + 1);
    }

    #[test]
    fn hours_are_read() {
        for right in ["00:00-24:00", "22:00-06:00", "09:30-09:31"] {
            assert!(Hours::parse(right).is_some(), "{right}");
        }
        for wrong in
            ["", "9:00-10:00", "24:00-01:00", "10:00", "10:00-10:00", "25:00-26:00", "10:60-11:00", "+1:00-02:00"]
        {
            assert_eq!(Hours::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_trial_lies_within_hours_as_a_whole() {
        let hours = [Hours::parse("05:00-05:18").unwrap()];
        let end = Moment(NOW.0 - NOW.0 % 60 + 60);
        assert!(within(&hours, NOW, end), "it ends when they do");
        assert!(!within(&hours, NOW, Moment(end.0 + 1)));
        assert!(!within(&hours, NOW, Moment(NOW.0 + 86_400)), "it begins and ends within them on two days");
        let night = [Hours::parse("05:00-05:18").unwrap(), Hours::parse("05:18-03:00").unwrap()];
        assert!(within(&night, NOW, Moment(end.0 + 3600)));
        assert_eq!(opens(&hours, NOW).unwrap().rfc3339(), "2026-11-27T05:00:00Z");
        assert_eq!(opens(&night, NOW).unwrap().rfc3339(), "2026-11-26T05:18:00Z");
        assert!(within(&[Hours::parse("00:00-24:00").unwrap()], NOW, Moment(NOW.0 + 500_000)));
    }

    proptest! {
        #[test]
        fn days_follow_each_other(second in 0..4_000_000_000_u64) {
            let moment = Moment(second);
            prop_assert!(moment.day() < moment.next_day().day());
            prop_assert_eq!(moment.next_day().rfc3339().ends_with("T00:00:00Z"), true);
        }
    }
}
