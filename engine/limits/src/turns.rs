//! Turns: who measures at a point, and who waits, in the order in which they came.

use std::{
    fmt,
    net::IpAddr,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{
    check::Held,
    defaults::TURN_BYTES_MAX,
    moment::Moment,
    state::{Locked, Owned},
};

/// Who a controller is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// As the line of its key in `authorized_keys` calls it.
    pub name: Option<String>,
    /// Where it comes from, as the SSH server says (`SSH_CONNECTION`).
    pub address: Option<IpAddr>,
}

impl Who {
    /// Whether both are one controller: of the same name, or without one and from the same address.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.name == other.name && (self.name.is_some() || self.address == other.address)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.address) {
            (Some(name), Some(address)) => write!(formatter, "{name} from {address}"),
            (Some(name), None) => formatter.write_str(name),
            (None, Some(address)) => write!(formatter, "a controller from {address}"),
            (None, None) => formatter.write_str("a controller on its own host"),
        }
    }
}

/// A turn, as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Whose it is.
    pub who: Who,
    /// What is measured.
    pub tests: Vec<String>,
    /// When it began, in seconds since 1970 UTC.
    pub begin_unix_s: u64,
    /// When it is over, at the latest.
    pub until_unix_s: u64,
    /// What its ends have. Engines of earlier versions do not say it.
    #[serde(default)]
    pub held: Held,
}

impl Turn {
    /// Whose turn it is, and what for.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} ({})", self.who, self.tests.join(", "))
    }
}

/// A place in the queue, or at the point, for as long as it is kept.
pub struct Place {
    /// Of all engines of this point, ever.
    pub id: String,
    owned: Owned,
}

/// Who is there.
#[derive(Default)]
pub struct Present {
    /// Turns by the names of their files, the oldest first. One that says nothing is somebody's all the same.
    pub turns: Vec<(String, Option<Turn>)>,
    /// Names of who waits, in their order.
    pub waiting: Vec<String>,
    /// What was left of turns whose engines are gone.
    pub vanished: Vec<Option<Turn>>,
}

impl Present {
    /// Looks who is there, and removes what is left of those who are not, if that may be.
    ///
    /// # Errors
    /// The folder cannot be read, or has something in it that is no engine's.
    pub fn look(locked: &Locked<'_>, clean: bool) -> Result<Self, String> {
        let mut present = Self::default();
        for found in locked.files("turn-", TURN_BYTES_MAX)? {
            let turn = serde_json::from_slice(&found.text).ok();
            if found.held {
                present.turns.push((found.name, turn));
                continue;
            }
            present.vanished.push(turn);
            if clean {
                locked.remove(&found.name);
            }
        }
        for found in locked.files("wait-", TURN_BYTES_MAX)? {
            if found.held {
                present.waiting.push(found.name);
            } else if clean {
                locked.remove(&found.name);
            }
        }
        Ok(present)
    }

    /// How many came before the one that has a place in the queue, or none.
    #[must_use]
    pub fn ahead_of(&self, place: Option<&Place>) -> usize {
        let own = place.map(|place| format!("wait-{}", place.id));
        self.waiting.iter().take_while(|name| own.as_ref() != Some(name)).count()
    }

    /// What a controller has in all turns but one of its own.
    #[must_use]
    pub fn held_by(&self, who: &Who, own: Option<&Place>) -> Held {
        let own = own.map(|place| format!("turn-{}", place.id));
        let others = self.turns.iter().filter(|(name, _)| own.as_ref() != Some(name));
        let said = others.filter_map(|(_, turn)| turn.as_ref());
        said.filter(|turn| turn.who.is_same_as(who)).fold(Held::default(), |sum, turn| sum.and(turn.held))
    }

    /// When the first of the turns is over.
    #[must_use]
    pub fn first_over(&self, now: Moment) -> Moment {
        let known = self.turns.iter().filter_map(|(_, turn)| turn.as_ref());
        let known = known.map(|turn| Moment(turn.until_unix_s)).min();
        known.unwrap_or(now).max(now)
    }

    /// Who measures.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.turns.iter();
        let texts = texts.map(|(_, turn)| turn.as_ref().map_or("an unknown controller".into(), Turn::text));
        let texts: Vec<String> = texts.collect();
        if texts.is_empty() { "controllers that wait".into() } else { texts.join(" and ") }
    }
}

impl Place {
    /// A place at the end of the queue.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn in_queue(locked: &Locked<'_>) -> Result<Self, String> {
        let id = new_id();
        let owned = locked.own(&format!("wait-{id}"), b"")?;
        Ok(Self { id, owned })
    }

    /// A turn.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn at_point(locked: &Locked<'_>, turn: &Turn) -> Result<Self, String> {
        let id = new_id();
        let owned = locked.own(&format!("turn-{id}"), &bytes_of(turn)?)?;
        Ok(Self { id, owned })
    }

    /// Says something else of a turn.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn rewrite(&mut self, locked: &Locked<'_>, turn: &Turn) -> Result<(), String> {
        self.owned.write(locked, &bytes_of(turn)?)
    }
}

fn bytes_of(turn: &Turn) -> Result<Vec<u8>, String> {
    serde_json::to_vec(turn).map_err(|error| error.to_string())
}

/// In the order of their time.
fn new_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:020}-{}", since.as_nanos(), std::process::id())
}
