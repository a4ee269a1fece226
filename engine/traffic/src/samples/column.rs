//! The columns of a table: name, unit, meaning and values of each, written once.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};

/// One column of a table whose rows are of a type.
pub struct Column<R> {
    name: &'static str,
    nullable: bool,
    /// Unit and meaning, and what else is to be said; nothing is said of what is empty.
    metadata: Vec<(&'static str, String)>,
    values: Values<R>,
}

/// What a row has in a column.
type Value<R, V> = Box<dyn Fn(&R) -> V>;

enum Values<R> {
    /// Which end it is, of all rows.
    Role,
    Text(Value<R, Option<Cow<'static, str>>>),
    Int32(Value<R, i32>),
    Int64(Value<R, Option<i64>>),
}

impl<R> Column<R> {
    fn new(name: &'static str, unit: &str, meaning: &str, nullable: bool, values: Values<R>) -> Self {
        let metadata = vec![("unit", unit.to_owned()), ("description", meaning.to_owned())];
        Self { name, nullable, metadata, values }
    }

    /// Which end saw it.
    pub fn role(meaning: &str) -> Self {
        Self::new("role", "", meaning, false, Values::Role)
    }

    /// Which flow it is of.
    pub fn flow(value: impl Fn(&R) -> u32 + 'static) -> Self {
        Self::int32("flow", "", "Index of the flow in its trial, from 0.", move |row| value(row).cast_signed())
    }

    /// Beginning and end of the flow's sample that it belongs to.
    pub fn bounds_of_sample(start_ns: impl Fn(&R) -> i64 + 'static, end_ns: impl Fn(&R) -> i64 + 'static) -> [Self; 2] {
        [
            Self::int64("start_ns", "ns", "Beginning of the flow's sample, since this end's origin.", start_ns),
            Self::int64("end_ns", "ns", "End of the flow's sample, exclusive, since this end's origin.", end_ns),
        ]
    }

    /// Words.
    pub fn text(name: &'static str, meaning: &str, value: impl Fn(&R) -> &'static str + 'static) -> Self {
        Self::new(name, "", meaning, false, Values::Text(Box::new(move |row| Some(value(row).into()))))
    }

    /// Words that may be absent.
    pub fn text_if_any(
        name: &'static str,
        meaning: &str,
        value: impl Fn(&R) -> Option<Cow<'static, str>> + 'static,
    ) -> Self {
        Self::new(name, "", meaning, true, Values::Text(Box::new(value)))
    }

    /// Small numbers.
    pub fn int32(name: &'static str, unit: &str, meaning: &str, value: impl Fn(&R) -> i32 + 'static) -> Self {
        Self::new(name, unit, meaning, false, Values::Int32(Box::new(value)))
    }

    /// Numbers.
    pub fn int64(name: &'static str, unit: &str, meaning: &str, value: impl Fn(&R) -> i64 + 'static) -> Self {
        Self::new(name, unit, meaning, false, Values::Int64(Box::new(move |row| Some(value(row)))))
    }

    /// Numbers that may be absent.
    pub fn int64_if_any(
        name: &'static str,
        unit: &str,
        meaning: &str,
        value: impl Fn(&R) -> Option<i64> + 'static,
    ) -> Self {
        Self::new(name, unit, meaning, true, Values::Int64(Box::new(value)))
    }

    /// Whether values may be absent, where that depends.
    pub fn nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }

    /// Says more of it.
    pub fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.metadata.push((key, value.into()));
        self
    }

    /// Its name, type and metadata.
    pub fn field(&self) -> Field {
        let kind = match self.values {
            Values::Role | Values::Text(_) => DataType::Utf8,
            Values::Int32(_) => DataType::Int32,
            Values::Int64(_) => DataType::Int64,
        };
        let metadata = self.metadata.iter().filter(|(_, value)| !value.is_empty());
        let metadata: HashMap<String, String> =
            metadata.map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Field::new(self.name, kind, self.nullable).with_metadata(metadata)
    }

    /// Its values of some rows; `role` is `source` or `sink`.
    pub fn array(&self, role: &str, rows: &[R]) -> ArrayRef {
        match &self.values {
            Values::Role => Arc::new(StringArray::from_iter_values(rows.iter().map(|_| role))),
            Values::Text(value) => Arc::new(rows.iter().map(value).collect::<StringArray>()),
            Values::Int32(value) => Arc::new(Int32Array::from_iter_values(rows.iter().map(value))),
            Values::Int64(value) => Arc::new(rows.iter().map(value).collect::<Int64Array>()),
        }
    }
}
