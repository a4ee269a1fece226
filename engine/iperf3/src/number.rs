//! Whole numbers as cJSON writes them: a large one may come as `1e+20`, and −1 of an unsigned variable as 2⁶⁴ − 1.

use serde::{Deserialize, Deserializer, de::Error};

/// 2⁶⁴: what −1 rounds to when it was unsigned.
const MINUS_ONE: f64 = 18_446_744_073_709_551_616.0;
/// Beyond it a double holds no whole numbers one by one.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Large(u64),
    Real(f64),
}

/// Reads a number that counts something.
///
/// # Errors
/// If it is not whole, or beyond what an `i64` holds.
pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    match Number::deserialize(deserializer)? {
        Number::Whole(number) => Ok(number),
        Number::Large(u64::MAX) => Ok(-1),
        Number::Real(number) if number.to_bits() == MINUS_ONE.to_bits() => Ok(-1),
        #[expect(clippy::cast_possible_truncation, reason = "within the bound it is exact")]
        Number::Real(number) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => Ok(number as i64),
        Number::Large(number) => Err(D::Error::custom(format!("the number {number} is too large"))),
        Number::Real(number) => Err(D::Error::custom(format!("{number} is not a whole number"))),
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
