//! A limits file, read. Whatever is wrong with it is said with the file, the key, what was found and what is expected.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::tz::TimeZone;
use serving::Network;
use thiserror::Error;
use toml::{Table, Value};

use crate::{
    Limits, Rule,
    defaults::{AT_ONCE_MAX, DURATION, FILE_BYTES_MAX, FLOWS, LIST_MAX, NAME_MAX, RULES_MAX, WAIT, WAIT_MAX},
    moment::{Between, Hours, zone},
    test_name::TestName,
    units,
};

/// Why a limits file is none. While it is so, everything is refused.
#[derive(Debug, Error)]
#[error("the limits file {}: {what}", file.display())]
pub struct LimitsError {
    file: PathBuf,
    what: String,
}

/// What is wrong within a file.
type Wrong = String;

const KEYS: &[&str] = &["state", "audit", "at_once", "wait", "timezone", "rule"];
const RULE_KEYS: &[&str] =
    &["name", "peers", "controllers", "tests", "rate", "duration", "flows", "bytes_per_day", "between"];

impl Limits {
    /// Reads a limits file.
    ///
    /// # Errors
    /// [`LimitsError`]: it cannot be read, or says something that is no limit.
    pub fn read(file: &Path) -> Result<Self, LimitsError> {
        let wrong = |what: String| LimitsError { file: file.into(), what };
        let text = read_text(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        Self::parse(&text).map_err(wrong)
    }

    /// Reads the text of a limits file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| not_toml(text, &error))?;
        let keys = Keys { table: &table, within: String::new() };
        keys.check(KEYS)?;
        let wait_us = keys.quantity("wait", units::duration, "a duration such as \"5s\"")?;
        let wait = wait_us.map_or(WAIT, Duration::from_micros);
        if wait > WAIT_MAX {
            let most = units::write_duration(us(WAIT_MAX));
            return Err(keys.wrong("wait", &units::write_duration(us(wait)), &format!("at most {most}")));
        }
        let expected = "a time zone such as \"Europe/Vienna\"";
        let zone = match keys.text("timezone", expected)? {
            None => TimeZone::UTC,
            Some(name) => zone(&name).ok_or_else(|| keys.wrong("timezone", &format!("{name:?}"), expected))?,
        };
        let rules = rules(&table, &zone)?;
        Ok(Self {
            state: keys.path("state", "/var/lib/flowsweep")?,
            audit: keys.path("audit", "/var/log/flowsweep/trials.jsonl")?,
            at_once: usize::try_from(keys.count("at_once", AT_ONCE_MAX)?.unwrap_or(1)).unwrap_or(1),
            wait,
            rules,
        })
    }
}

fn read_text(file: &Path) -> io::Result<String> {
    // Whatever is there must not make an engine wait: a pipe without a writer, for one.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("found something other than a file"));
    }
    let mut bytes = Vec::new();
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("found more than {FILE_BYTES_MAX} B, expected less")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("found bytes that are no UTF-8, expected TOML"))
}

fn not_toml(text: &str, error: &toml::de::Error) -> Wrong {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    format!("line {line} is no TOML: {}", error.message())
}

fn rules(table: &Table, zone: &TimeZone) -> Result<Vec<Rule>, Wrong> {
    let expected = "one table [[rule]] or more: without one, nobody may measure";
    let found = match table.get("rule") {
        Some(Value::Array(found)) if !found.is_empty() => found,
        Some(other) => return Err(format!("key `rule`: found {}, expected {expected}", written(other))),
        None => return Err(format!("key `rule` is missing, expected {expected}")),
    };
    if found.len() > RULES_MAX {
        return Err(format!("key `rule`: found {} rules, expected at most {RULES_MAX}", found.len()));
    }
    let mut rules: Vec<Rule> = Vec::with_capacity(found.len());
    for (number, value) in (1..).zip(found) {
        let Value::Table(table) = value else {
            return Err(format!("rule {number}: found {}, expected a table [[rule]]", written(value)));
        };
        let rule = rule(&Keys { table, within: format!("rule {number}, ") }, zone)?;
        if rules.iter().any(|other| other.name == rule.name) {
            return Err(format!("rule {number}, key `name`: found {:?} again, expected another name", rule.name));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn rule(keys: &Keys<'_>, zone: &TimeZone) -> Result<Rule, Wrong> {
    keys.check(RULE_KEYS)?;
    let expected = format!("1 to {NAME_MAX} letters, digits, '.', '_', '-' or '@'");
    let name = keys.text("name", &expected)?.ok_or_else(|| keys.missing("name", &expected))?;
    if !is_name(&name) {
        return Err(keys.wrong("name", &format!("{name:?}"), &expected));
    }
    let network = |text: &str| text.parse::<Network>().ok();
    let networks = "networks such as \"192.0.2.0/24\"";
    let hours = "times such as \"22:00-06:00\"";
    let tests = format!("some of {}", TestName::list(&TestName::ALL));
    let flows = keys.count("flows", u32::MAX.into())?;
    Ok(Rule {
        name,
        peers: keys.list("peers", network, networks)?.ok_or_else(|| keys.missing("peers", networks))?,
        controllers: keys.list("controllers", network, networks)?,
        tests: keys.list("tests", TestName::parse, &tests)?.unwrap_or_else(|| TestName::ALL.to_vec()),
        rate_bps: keys.quantity("rate", units::rate, "a rate such as \"100Mbit/s\"")?,
        duration_us: keys.quantity("duration", units::duration, "a duration such as \"60s\"")?.unwrap_or(us(DURATION)),
        flows: flows.and_then(|count| u32::try_from(count).ok()).unwrap_or(FLOWS),
        bytes_per_day: keys.quantity("bytes_per_day", units::size, "a size such as \"500GB\"")?,
        between: Between { hours: keys.list("between", Hours::parse, hours)?.unwrap_or_default(), zone: zone.clone() },
    })
}

/// Whether a text may name a rule or a controller: it stands in sentences and in logs.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "._-@".contains(character);
    (1..=NAME_MAX).contains(&text.len()) && text.chars().all(allowed)
}

fn us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The keys of one table.
struct Keys<'a> {
    table: &'a Table,
    within: String,
}

impl Keys<'_> {
    fn check(&self, known: &[&str]) -> Result<(), Wrong> {
        match self.table.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let key: String = key.chars().take(NAME_MAX).collect();
                Err(format!("{}found the key {key:?}, expected one of {}", self.within, known.join(", ")))
            }
        }
    }

    fn wrong(&self, key: &str, found: &str, expected: &str) -> Wrong {
        format!("{}key `{key}`: found {found}, expected {expected}", self.within)
    }

    fn missing(&self, key: &str, expected: &str) -> Wrong {
        format!("{}key `{key}` is missing, expected {expected}", self.within)
    }

    fn text(&self, key: &str, expected: &str) -> Result<Option<String>, Wrong> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(key, &written(other), expected)),
        }
    }

    /// Absolute, since nobody knows where a login begins.
    fn path(&self, key: &str, example: &str) -> Result<PathBuf, Wrong> {
        let expected = format!("an absolute path such as {example:?}");
        let text = self.text(key, &expected)?.ok_or_else(|| self.missing(key, &expected))?;
        let path = PathBuf::from(&text);
        if path.is_absolute() { Ok(path) } else { Err(self.wrong(key, &format!("{text:?}"), &expected)) }
    }

    fn count(&self, key: &str, most: u64) -> Result<Option<u64>, Wrong> {
        let expected = format!("a whole number from 1 to {most}");
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Integer(number)) if u64::try_from(*number).is_ok_and(|number| (1..=most).contains(&number)) => {
                Ok(u64::try_from(*number).ok())
            }
            Some(other) => Err(self.wrong(key, &written(other), &expected)),
        }
    }

    /// Something of which there is some.
    fn quantity(&self, key: &str, read: fn(&str) -> Option<u64>, expected: &str) -> Result<Option<u64>, Wrong> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let zero_means_something = key == "wait";
        let read = value.as_str().and_then(read).filter(|value| *value > 0 || zero_means_something);
        read.map(Some).ok_or_else(|| self.wrong(key, &written(value), expected))
    }

    fn list<T>(&self, key: &str, read: impl Fn(&str) -> Option<T>, expected: &str) -> Result<Option<Vec<T>>, Wrong> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let expected = format!("a list of 1 to {LIST_MAX}: {expected}");
        let Some(list) = value.as_array().filter(|list| (1..=LIST_MAX).contains(&list.len())) else {
            return Err(self.wrong(key, &written(value), &expected));
        };
        let read =
            |item: &Value| item.as_str().and_then(&read).ok_or_else(|| self.wrong(key, &written(item), &expected));
        list.iter().map(read).collect::<Result<_, _>>().map(Some)
    }
}

/// What was found, in a few characters that no terminal acts upon.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.chars().take(NAME_MAX).collect::<String>()),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Table(_) => "a table".into(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(moment) => moment.to_string(),
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = r#"
        state = "/s"
        audit = "/a"
        at_once = 2
        wait = "0s"
        timezone = "Europe/Vienna"
        [[rule]]
        name = "partners"
        peers = ["192.0.2.0/24", "2001:db8::/32"]
        controllers = ["198.51.100.7"]
        tests = ["tcp", "rtt"]
        rate = "1Gbit/s"
        duration = "30s"
        flows = 16
        bytes_per_day = "500GB"
        between = ["22:00-06:00"]
        [[rule]]
        name = "all"
        peers = ["0.0.0.0/0"]
    "#;

    #[test]
    fn a_file_is_read() {
        let limits = Limits::parse(GOOD).unwrap();
        assert_eq!((limits.at_once, limits.wait, limits.rules.len()), (2, Duration::ZERO, 2));
        let [first, second] = &limits.rules[..] else { panic!("two rules") };
        assert_eq!((first.rate_bps, first.duration_us, first.flows), (Some(1_000_000_000), 30_000_000, 16));
        assert_eq!(first.bytes_per_day, Some(500_000_000_000));
        assert_eq!((second.rate_bps, second.duration_us, second.flows), (None, 60_000_000, 128));
        assert_eq!(second.tests.len(), 5);
        assert_eq!(first.between.text(), "22:00-06:00 Europe/Vienna");
        let address = |text: &str| Some(text.parse().unwrap());
        let rule =
            |peer: &str, controller| limits.rule(peer.parse().unwrap(), controller).map(|rule| rule.name.clone());
        assert_eq!(rule("192.0.2.9", address("198.51.100.7")).as_deref(), Some("partners"));
        assert_eq!(rule("192.0.2.9", address("198.51.100.8")).as_deref(), Some("all"));
        assert_eq!(rule("192.0.2.9", None).as_deref(), Some("all"));
        assert_eq!(rule("2001:db8::1", None), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let changed = |from: &str, to: &str| {
            assert!(GOOD.contains(from), "{from}");
            Limits::parse(&GOOD.replace(from, to)).unwrap_err()
        };
        for (from, to, said) in [
            ("state = \"/s\"", "", "key `state` is missing, expected an absolute path"),
            ("\"/s\"", "\"s\"", "key `state`: found \"s\", expected an absolute path"),
            ("\"/a\"", "5", "key `audit`: found 5, expected an absolute path"),
            ("at_once = 2", "at_once = 0", "key `at_once`: found 0, expected a whole number from 1 to 1000"),
            ("at_once = 2", "at_once = \"2\"", "key `at_once`: found \"2\""),
            ("\"0s\"", "\"9s\"", "key `wait`: found 9 s, expected at most 8 s"),
            (
                "Europe/Vienna",
                "Vienna",
                "key `timezone`: found \"Vienna\", expected a time zone such as \"Europe/Vienna\"",
            ),
            ("\"Europe/Vienna\"", "1", "key `timezone`: found 1, expected a time zone"),
            ("wait", "waits", "found the key \"waits\", expected one of state, audit"),
            ("rate =", "rates =", "rule 1, found the key \"rates\", expected one of name, peers"),
            ("\"1Gbit/s\"", "1", "rule 1, key `rate`: found 1, expected a rate such as \"100Mbit/s\""),
            ("\"1Gbit/s\"", "\"0bit/s\"", "rule 1, key `rate`: found \"0bit/s\""),
            ("\"30s\"", "\"30\"", "rule 1, key `duration`: found \"30\""),
            ("16", "1.5", "rule 1, key `flows`: found 1.5"),
            ("\"500GB\"", "\"500GBit\"", "rule 1, key `bytes_per_day`: found \"500GBit\""),
            ("22:00-06:00", "22-06", "rule 1, key `between`: found \"22-06\", expected a list of 1 to 1024: times"),
            ("192.0.2.0/24", "192.0.2.0/33", "rule 1, key `peers`: found \"192.0.2.0/33\""),
            ("[\"198.51.100.7\"]", "[]", "rule 1, key `controllers`: found a list of 0"),
            ("\"rtt\"", "\"mptcp\"", "rule 1, key `tests`: found \"mptcp\""),
            ("\"partners\"", "\"all\"", "rule 2, key `name`: found \"all\" again"),
            ("\"partners\"", "\"a b\"", "rule 1, key `name`: found \"a b\", expected 1 to 64 letters"),
            ("peers = [\"0.0.0.0/0\"]", "", "rule 2, key `peers` is missing"),
            ("flows = 16", "flows = 16\nflows = 17", "line 15 is no TOML: duplicate key"),
            ("at_once = 2", "at_once = [", "is no TOML"),
        ] {
            let found = changed(from, to);
            assert!(found.contains(said), "{from} → {to}: {found}");
        }
        for text in ["", "state='/s'\naudit='/a'", "state='/s'\naudit='/a'\nrule=[]", "rule = 5"] {
            assert!(Limits::parse(text).unwrap_err().contains("key `rule`"), "{text}");
        }
        let deep = format!("rule = {}{}", "[".repeat(30_000), "]".repeat(30_000));
        assert!(Limits::parse(&deep).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("limits.toml");
        let said = |file: &Path| Limits::read(file).unwrap_err().to_string();
        assert!(said(&file).contains("limits.toml: cannot be read: No such file"));
        assert!(said(folder.path()).contains("cannot be read"));
        std::fs::write(&file, [0xff]).unwrap();
        assert!(said(&file).contains("no UTF-8"));
        std::fs::write(&file, "#".repeat(70_000)).unwrap();
        assert!(said(&file).contains("more than 65536 B"));
        std::fs::write(&file, GOOD).unwrap();
        assert!(Limits::read(&file).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_ends_it(text in "(?s).{0,200}") {
            let _ = Limits::parse(&text);
        }

        #[test]
        fn a_file_with_a_wrong_byte_is_read_or_refused(at in 0..GOOD.len(), byte in 0_u8..128) {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = Limits::parse(&String::from_utf8(bytes).unwrap());
        }
    }
}
