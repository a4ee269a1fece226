//! Objects by their keys only: a list of the same values in the same order is not taken for one.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use crate::limits::REPORTED_MAX;

/// A value that was received as an object.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByKeys(PhantomData)).map(Self)
    }
}

/// Reads a list of at most [`REPORTED_MAX`] objects.
///
/// # Errors
/// If it is something else, or has more.
pub fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(Few(PhantomData))
}

struct Few<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {REPORTED_MAX} objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(Object(object)) = list.next_element()? {
            if all.len() == REPORTED_MAX {
                return Err(A::Error::invalid_length(REPORTED_MAX + 1, &self));
            }
            all.push(object);
        }
        Ok(all)
    }
}

struct ByKeys<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ByKeys<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}
