//! Bytes by day (UTC) and rule: reserved before a trial begins, replaced by what it carried once it has ended. What an engine
//! that was killed had reserved stays counted.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    defaults::{LEDGER_BYTES_MAX, LEDGER_LINES},
    moment::Moment,
    state::Locked,
};

/// A line of the ledger.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Of which end of which turn it is.
    end: String,
    /// Rules that it counts for.
    rules: Vec<String>,
    /// Bytes that it may carry, or carried.
    bytes: u64,
    /// Whether it has ended.
    over: bool,
}

impl Line {
    fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

/// The ledger of one day, as far as it was written.
pub struct Ledger {
    name: String,
    by_end: HashMap<String, Line>,
    lines: usize,
    whole_bytes: u64,
}

impl Ledger {
    /// Reads the ledger of a day.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(locked: &Locked<'_>, day: &str) -> Result<Self, String> {
        let name = format!("bytes-{day}.jsonl");
        let bytes = locked.read(&name, LEDGER_BYTES_MAX)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (mut by_end, mut lines) = (HashMap::new(), 0);
        for (number, text) in (1..).zip(bytes[..whole].split(|byte| *byte == b'\n')) {
            if text.is_empty() {
                continue;
            }
            let line: Line = serde_json::from_slice(text).map_err(|error| {
                format!("line {number} of {name} in the state folder is damaged ({error}): how much was carried today is not known")
            })?;
            by_end.insert(line.end.clone(), line);
            lines += 1;
        }
        Ok(Self { name, by_end, lines, whole_bytes: whole as u64 })
    }

    /// Bytes that count for a rule.
    #[must_use]
    pub fn used(&self, rule: &str) -> u64 {
        let its = self.by_end.values().filter(|line| line.rules.iter().any(|name| name == rule));
        its.fold(0, |sum, line| sum.saturating_add(line.bytes))
    }

    /// Writes what an end may carry, or has carried.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(
        &mut self,
        locked: &Locked<'_>,
        end: &str,
        rules: &[String],
        bytes: u64,
        over: bool,
    ) -> Result<(), String> {
        if self.lines >= LEDGER_LINES {
            self.put_together(locked)?;
        }
        let line = Line { end: end.into(), rules: rules.into(), bytes, over };
        let text = line.text()?;
        locked.append(&self.name, self.whole_bytes, &text)?;
        self.whole_bytes += text.len() as u64;
        self.lines += 1;
        self.by_end.insert(end.into(), line);
        Ok(())
    }

    /// One line for all that is over and counts for the same rules: many short trials do not make it long.
    fn put_together(&mut self, locked: &Locked<'_>) -> Result<(), String> {
        let mut sums: HashMap<String, Line> = HashMap::new();
        for (end, line) in self.by_end.drain() {
            let name = if line.over { format!("all of {}", line.rules.join(" ")) } else { end };
            let sum = sums.entry(name.clone()).or_insert(Line { end: name, bytes: 0, ..line });
            sum.bytes = sum.bytes.saturating_add(line.bytes);
        }
        let text: String = sums.values().map(Line::text).collect::<Result<_, _>>()?;
        locked.replace(&self.name, text.as_bytes())?;
        (self.by_end, self.lines, self.whole_bytes) = (sums, 0, text.len() as u64);
        Ok(())
    }
}

/// The day that a moment lies in.
#[must_use]
pub fn day_of(moment: Moment) -> String {
    moment.day()
}
