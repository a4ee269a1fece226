//! Quantities as plans write them: a number and a unit, whole once counted in the smallest unit.

/// Bit/s in each unit of a rate.
const RATES: &[(&str, u64)] = &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1000), ("bit/s", 1)];
/// Bytes in each unit of a size.
const SIZES: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];
/// Microseconds in each unit of a duration.
const DURATIONS: &[(&str, u64)] =
    &[("min", 60_000_000), ("ms", 1000), ("us", 1), ("h", 3_600_000_000), ("s", 1_000_000)];

/// Longest text of a quantity.
const CHARS_MAX: usize = 40;

/// Bit/s of a rate such as `100Mbit/s`.
#[must_use]
pub fn rate(text: &str) -> Option<u64> {
    quantity(text, RATES)
}

/// Bytes of a size such as `500GB`.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    quantity(text, SIZES)
}

/// Microseconds of a duration such as `30s`.
#[must_use]
pub fn duration(text: &str) -> Option<u64> {
    quantity(text, DURATIONS)
}

/// A rate as plans write it.
#[must_use]
pub fn write_rate(rate_bps: u64) -> String {
    write(rate_bps, RATES)
}

/// A size as plans write it, in powers of 1000.
#[must_use]
pub fn write_size(bytes: u64) -> String {
    write(bytes, &SIZES[4..])
}

/// A duration as plans write it, in seconds or less.
#[must_use]
pub fn write_duration(duration_us: u64) -> String {
    write(duration_us, &[("s", 1_000_000), ("ms", 1000), ("us", 1)])
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    if text.len() > CHARS_MAX {
        return None;
    }
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at(end);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(whole, part)| (whole, Some(part)));
    let mut value = whole.parse::<u128>().ok()?.checked_mul(u128::from(*factor))?;
    if let Some(digits) = fraction {
        let scale = 10_u128.checked_pow(u32::try_from(digits.len()).ok()?)?;
        let part = digits.parse::<u128>().ok()?.checked_mul(u128::from(*factor))?;
        if !part.is_multiple_of(scale) {
            return None;
        }
        value = value.checked_add(part / scale)?;
    }
    // What TOML's own integers, and those of messages, hold.
    u64::try_from(value).ok().filter(|value| *value <= i64::MAX.unsigned_abs())
}

/// The largest unit in which the number is 1 or more; all of its digits, without zeros at the end.
fn write(value: u64, units: &[(&str, u64)]) -> String {
    let fits = units.iter().find(|(_, factor)| value >= *factor).or(units.last());
    let Some((unit, factor)) = fits else { return value.to_string() };
    let (whole, rest) = (value / factor, value % factor);
    let digits = factor.ilog10() as usize;
    let fraction = if rest == 0 { String::new() } else { format!(".{rest:0digits$}") };
    format!("{whole}{} {unit}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_read_as_plans_write_them() {
        assert_eq!(rate("100Mbit/s"), Some(100_000_000));
        assert_eq!(rate("2.5 Gbit/s"), Some(2_500_000_000));
        assert_eq!(size("512KiB"), Some(512 << 10));
        assert_eq!(size("1.1MB"), Some(1_100_000));
        assert_eq!(duration("87.5ms"), Some(87_500));
        assert_eq!(duration("2min"), Some(120_000_000));
        for wrong in ["", "5", "-1s", "1e3s", "1..2s", "s", "1.5us", "1 m", "9999999999999999999h", "1s ", ".5s", "5.s"]
        {
            assert_eq!(duration(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn quantities_are_written_with_all_their_digits() {
        assert_eq!(write_rate(100_000_000), "100 Mbit/s");
        assert_eq!(write_rate(100_000_001), "100.000001 Mbit/s");
        assert_eq!(write_size(1_500_000_000), "1.5 GB");
        assert_eq!(write_duration(60_000_001), "60.000001 s");
        assert_eq!(write_duration(0), "0 us");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in 0..=i64::MAX.unsigned_abs()) {
            prop_assert_eq!(rate(&write_rate(value)), Some(value));
            prop_assert_eq!(size(&write_size(value)), Some(value));
            prop_assert_eq!(duration(&write_duration(value)), Some(value));
        }

        #[test]
        fn no_text_is_too_much(text in ".{0,60}") {
            let _ = (rate(&text), size(&text), duration(&text));
        }
    }
}
