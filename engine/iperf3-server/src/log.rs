//! Tests as NDJSON: one line an event, units in the names.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, json};

/// Where lines go; nowhere, if nobody asked for them.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Mutex<dyn Write + Send>>>);

impl Log {
    /// Lines go to a writer, each with one call.
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self(Some(Arc::new(Mutex::new(writer))))
    }

    /// Whether anybody reads it.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Writes an event with its time in front of what belongs to it.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, event: &str, fields: Value) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut line = Map::new();
        line.insert("event".into(), event.into());
        line.insert("at_unix_ms".into(), json!(unix_ms()));
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(&text)?;
        writer.flush()
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
