//! Whole numbers as cJSON writes them: a large one may come as `1e+20`, and −1 of an unsigned variable as 2⁶⁴ − 1.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// 2⁶⁴: what −1 rounds to when it was unsigned.
const MINUS_ONE: f64 = 18_446_744_073_709_551_616.0;
/// Beyond it a double holds no whole numbers one by one.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads a number that counts something.
///
/// # Errors
/// If it is not whole, or beyond what an `i64` holds.
pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Whole)
}

/// Takes a number as it is read: what is none is not kept until that is known.
struct Whole;

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        if number == u64::MAX {
            return Ok(-1);
        }
        i64::try_from(number).map_err(|_| E::custom(format!("the number {number} is too large")))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        if number.to_bits() == MINUS_ONE.to_bits() {
            return Ok(-1);
        }
        if number.fract() != 0.0 || number.abs() > EXACT_MAX {
            return Err(E::custom(format!("{number} is not a whole number")));
        }
        #[expect(clippy::cast_possible_truncation, reason = "within the bound it is exact")]
        Ok(number as i64)
    }
}

/// Reads a number that may be missing, and is not negative.
///
/// # Errors
/// If it is not whole, negative, or too large.
pub fn count<'de, D: Deserializer<'de>, T: TryFrom<i64>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let number = whole(deserializer)?;
    T::try_from(number).map(Some).map_err(|_| D::Error::custom(format!("the number {number} is out of bounds")))
}

/// Reads a switch: iperf3 writes some as `true` and some as 1.
///
/// # Errors
/// If it is neither.
pub fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Switch {
        Boolean(bool),
        Number(f64),
    }
    Ok(match Switch::deserialize(deserializer)? {
        Switch::Boolean(on) => on,
        Switch::Number(number) => number != 0.0,
    })
}
