//! Moments of the wall clock as text, in UTC, and times of the day, in the time zone that a limits file names.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::{Timestamp, tz::TimeZone};

const DAY_S: u64 = 86_400;
const DAY_MINUTES: u16 = 1440;
/// How far ahead it is looked when hours begin: a day on which clocks skip them has none.
const OPENS_WITHIN_DAYS: u16 = 3;

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
        self.timestamp().strftime("%Y-%m-%d").to_string()
    }

    /// `2026-11-26T05:17:09Z` (RFC 3339).
    #[must_use]
    pub fn rfc3339(self) -> String {
        self.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// When the next day begins.
    #[must_use]
    pub fn next_day(self) -> Self {
        Self((self.0 / DAY_S + 1).saturating_mul(DAY_S))
    }

    fn minute_of_day(self, zone: &TimeZone) -> u16 {
        let time = zone.to_datetime(self.timestamp()).time();
        u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs())
    }

    /// The last one that can be written, of all that are later.
    fn timestamp(self) -> Timestamp {
        i64::try_from(self.0).ok().and_then(|second| Timestamp::from_second(second).ok()).unwrap_or(Timestamp::MAX)
    }
}

/// A part of every day, `22:00-06:00`: from the first minute to before the second one, over midnight too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: u16,
    to: u16,
}

impl Hours {
    /// Reads `HH:MM-HH:MM`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute(from)?, minute(to)?);
        (from != to && from < DAY_MINUTES).then_some(Self { from, to: to % DAY_MINUTES })
    }

    /// As it was written.
    #[must_use]
    pub fn text(self) -> String {
        let written = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{}-{}", written(self.from), written(self.to))
    }

    fn holds(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// Times of the day at which something may happen; without any, it always may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// The times, in any order.
    pub hours: Vec<Hours>,
    /// Whose they are.
    pub zone: TimeZone,
}

impl Between {
    /// Whether all of a time lies within them.
    #[must_use]
    pub fn holds(&self, begin: Moment, end: Moment) -> bool {
        let open = |moment: Moment| self.hours.iter().any(|hours| hours.holds(moment.minute_of_day(&self.zone)));
        let last = Moment(end.0.saturating_sub(1).max(begin.0));
        // Every minute of it, of two days at most: what lasts longer has every minute of a day, even of one on
        // which clocks are set.
        let minutes = 1..=u64::from(2 * DAY_MINUTES);
        let later = minutes.map(|minutes| Moment(begin.0 + minutes * 60)).take_while(|moment| *moment <= last);
        self.hours.is_empty() || (open(begin) && open(last) && later.into_iter().all(open))
    }

    /// When the next of them begin, where clocks are set meanwhile, too; nothing: within three days none do.
    ///
    /// What was asked for may lie within hours that have begun and be too long for them: it is told when others begin.
    #[must_use]
    pub fn opens(&self, now: Moment) -> Option<Moment> {
        let begins = |hours: &Hours, moment: Moment| {
            let holds = |moment: Moment| hours.holds(moment.minute_of_day(&self.zone));
            holds(moment) && !holds(Moment(moment.0.saturating_sub(60)))
        };
        let minutes = 1..=u64::from(OPENS_WITHIN_DAYS * DAY_MINUTES);
        let mut later = minutes.map(|minutes| Moment((now.0 / 60 + minutes) * 60));
        later.find(|moment| self.hours.iter().any(|hours| begins(hours, *moment)))
    }

    /// When they are over, of a moment that lies within them; nothing: not within two days.
    #[must_use]
    pub fn closes(&self, now: Moment) -> Option<Moment> {
        let later = (1..=u64::from(2 * DAY_MINUTES)).map(|minutes| Moment((now.0 / 60 + minutes) * 60));
        std::iter::once(now).chain(later).find(|moment| !self.holds(*moment, *moment))
    }

    /// As they were written, with the time zone.
    #[must_use]
    pub fn text(&self) -> String {
        let hours = self.hours.iter().map(|hours| hours.text()).collect::<Vec<_>>().join(", ");
        format!("{hours} {}", self.zone.iana_name().unwrap_or("UTC"))
    }
}

/// Reads the name of a time zone.
#[must_use]
pub fn zone(name: &str) -> Option<TimeZone> {
    if name == "UTC" { Some(TimeZone::UTC) } else { TimeZone::get(name).ok() }
}

fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str, most: u16| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|number| digits && *number <= most)
    };
    let (hour, minute) = (number(hour, 24)?, number(minute, 59)?);
    (hour < 24 || minute == 0).then_some(hour * 60 + minute)
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

    fn between(hours: &[&str], name: &str) -> Between {
        let hours = hours.iter().map(|text| Hours::parse(text).unwrap()).collect();
        Between { hours, zone: zone(name).unwrap() }
    }

    #[test]
    fn a_trial_lies_within_hours_as_a_whole() {
        let morning = between(&["05:00-05:18"], "UTC");
        let end = Moment(NOW.0 - NOW.0 % 60 + 60);
        assert!(morning.holds(NOW, end), "it ends when they do");
        assert!(!morning.holds(NOW, Moment(end.0 + 1)));
        assert!(!morning.holds(NOW, Moment(NOW.0 + 86_400)), "it begins and ends within them on two days");
        let night = between(&["05:00-05:18", "05:18-03:00"], "UTC");
        assert!(night.holds(NOW, Moment(end.0 + 3600)));
        assert_eq!(morning.opens(NOW).unwrap().rfc3339(), "2026-11-27T05:00:00Z");
        assert_eq!(night.opens(NOW).unwrap().rfc3339(), "2026-11-26T05:18:00Z");
        assert_eq!(morning.closes(NOW), Some(end));
        assert_eq!(morning.closes(end), Some(end), "they are over");
        assert_eq!(night.closes(NOW).unwrap().rfc3339(), "2026-11-27T03:00:00Z");
        assert_eq!(between(&[], "UTC").closes(NOW), None);
        assert_eq!(between(&["00:00-24:00"], "UTC").closes(NOW), None);
        assert!(between(&["00:00-24:00"], "UTC").holds(NOW, Moment(NOW.0 + 500_000)));
        assert!(between(&[], "UTC").holds(NOW, Moment(u64::MAX)));
        assert_eq!(night.text(), "05:00-05:18, 05:18-03:00 UTC");
    }

    #[test]
    fn hours_are_those_of_the_zone_in_summer_and_in_winter() {
        let night = between(&["22:00-06:00"], "Europe/Vienna");
        assert_eq!(night.text(), "22:00-06:00 Europe/Vienna");
        let at = |text: &str| Moment(u64::try_from(text.parse::<Timestamp>().unwrap().as_second()).unwrap());
        for (open, text) in [
            (true, "2026-11-26T21:00:00Z"),
            (false, "2026-11-26T20:59:59Z"),
            (true, "2026-07-26T20:00:00Z"),
            (false, "2026-07-26T19:59:59Z"),
            (false, "2026-07-26T04:00:00Z"),
        ] {
            assert_eq!(night.holds(at(text), at(text)), open, "{text}");
        }
        assert_eq!(night.opens(at("2026-11-26T12:00:00Z")), Some(at("2026-11-26T21:00:00Z")));
        assert_eq!(night.opens(at("2026-07-26T20:00:00Z")), Some(at("2026-07-27T20:00:00Z")));
        // On 28 March 2027 clocks skip the hour from 02:00 on.
        let skipped = between(&["02:30-04:00"], "Europe/Vienna");
        assert_eq!(skipped.opens(at("2027-03-28T00:00:00Z")), Some(at("2027-03-28T01:00:00Z")));
        let gone = between(&["02:10-02:50"], "Europe/Vienna");
        assert_eq!(gone.opens(at("2027-03-28T00:00:00Z")), Some(at("2027-03-29T00:10:00Z")));
        // On 25 October 2026 the hour from 02:00 on comes twice.
        let twice = between(&["02:30-04:00"], "Europe/Vienna");
        assert_eq!(twice.opens(at("2026-10-25T00:10:00Z")), Some(at("2026-10-25T00:30:00Z")));
        assert_eq!(twice.opens(at("2026-10-25T01:10:00Z")), Some(at("2026-10-25T01:30:00Z")));
        assert_eq!(zone("Mars/Olympus_Mons"), None);
    }

    proptest! {
        #[test]
        fn hours_open_when_it_is_said(
            change in proptest::sample::select(vec!["2027-03-28T01:00:00Z", "2026-10-25T01:00:00Z"]),
            before_min in -2880..2880_i64,
            from in 0..1440_u16,
            long in 1..1440_u16,
            second in 0..60_u64,
        ) {
            let change: Timestamp = change.parse().unwrap();
            let now = Moment(u64::try_from(change.as_second() + before_min * 60).unwrap() + second);
            let hours = Hours { from, to: (from + long) % DAY_MINUTES };
            let night = Between { hours: vec![hours], zone: zone("Europe/Vienna").unwrap() };
            let opens = night.opens(now).unwrap();
            prop_assert!(opens > now && night.holds(opens, opens));
            let closed_before = |minute: u64| !night.holds(Moment(minute * 60), Moment(minute * 60));
            prop_assert!(closed_before(opens.0 / 60 - 1));
            if !night.holds(now, now) {
                prop_assert!((now.0 / 60 + 1..opens.0 / 60).all(closed_before), "{now:?} {opens:?}");
            }
        }

        #[test]
        fn days_follow_each_other(second in 0..4_000_000_000_u64) {
            let moment = Moment(second);
            prop_assert!(moment.day() < moment.next_day().day());
            prop_assert_eq!(moment.next_day().rfc3339().ends_with("T00:00:00Z"), true);
        }
    }
}
