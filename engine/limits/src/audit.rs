//! What becomes of trials, as lines of JSON, each written at once to the end of a file that others may rotate.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;
use serde_json::{Map, Value};

use crate::{moment::Moment, turns::Who};

/// Who administers the point reads it.
const MODE: u32 = 0o640;

/// Writes an event.
///
/// # Errors
/// It cannot be written: a trial that would leave no trace does not begin.
pub fn write(file: &Path, event: &str, who: &Who, fields: Value) -> Result<(), String> {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    line.insert("at".into(), Moment::now().rfc3339().into());
    line.insert("controller".into(), who.name.clone().into());
    line.insert("controller_address".into(), who.address.map(|address| address.to_string()).into());
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    let named = |error: std::io::Error| format!("the file {} of `audit`: {error}", file.display());
    open(file).and_then(|mut opened| opened.write_all(text.as_bytes())).map_err(named)
}

fn open(file: &Path) -> std::io::Result<File> {
    // Each time again: it may have been rotated. A pipe without a reader must not hold an engine up.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(MODE).custom_flags(flags).open(file)
}
