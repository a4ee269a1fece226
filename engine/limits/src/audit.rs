//! What becomes of trials, as lines of JSON, each written at once to the end of a file that others may rotate.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::{FileExt, OpenOptionsExt},
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
    open(file).and_then(|mut opened| append(&mut opened, text)).map_err(named)
}

/// Half a line, of when there was no room for all of it, is ended first: it would take this one with it.
fn append(file: &mut File, mut text: String) -> std::io::Result<()> {
    if ends_in_a_line(file) == Some(false) {
        text.insert(0, '\n');
    }
    file.write_all(text.as_bytes())
}

/// `None` of what is no file, or may not be read.
fn ends_in_a_line(file: &File) -> Option<bool> {
    let facts = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let Some(last) = facts.len().checked_sub(1) else { return Some(true) };
    let mut byte = [0];
    (file.read_at(&mut byte, last).ok()? == 1).then_some(byte == *b"\n")
}

fn open(file: &Path) -> std::io::Result<File> {
    // Each time again: it may have been rotated. A pipe without a reader must not hold an engine up.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opens =
        |reads| OpenOptions::new().read(reads).append(true).create(true).mode(MODE).custom_flags(flags).open(file);
    // A pipe that is opened for reading, too, has a reader: the engine itself.
    let pipe = std::fs::metadata(file).is_ok_and(|facts| !facts.is_file());
    opens(!pipe).or_else(|_| opens(false))
}
