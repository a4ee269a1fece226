//! Whose turn it is, and who has to go, where there is not room for all: addresses share, however many come from one.

use std::collections::HashMap;

use serving::Origin;

/// How many come from where.
pub fn counted(origins: impl Iterator<Item = Origin>) -> HashMap<Origin, usize> {
    let mut counts = HashMap::new();
    for origin in origins {
        *counts.entry(origin).or_insert(0) += 1;
    }
    counts
}

/// The origin of the most, and how many they are; of several origins the first to arrive.
pub fn crowd(origins: impl Iterator<Item = Origin> + Clone) -> Option<(Origin, usize)> {
    let counts = counted(origins.clone());
    let most = *counts.values().max()?;
    origins.into_iter().find(|origin| counts.get(origin) == Some(&most)).map(|origin| (origin, most))
}

/// The place in the queue of whoever is next: who may begin at all, since fewer than `per_origin` tests run from there, and
/// of these from where the fewest run; among them, the first to arrive.
pub fn next(
    waiting: impl Iterator<Item = Origin>,
    running: &HashMap<Origin, usize>,
    per_origin: usize,
) -> Option<usize> {
    let run = |origin: &Origin| running.get(origin).copied().unwrap_or(0);
    let may = waiting.enumerate().filter(|(_, origin)| run(origin) < per_origin);
    may.min_by_key(|(at, origin)| (run(origin), *at)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn origin(address: &str) -> Origin {
        address.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn the_crowd_is_where_most_come_from() {
        let (one, other) = (origin("192.0.2.1"), origin("192.0.2.2"));
        assert_eq!(crowd([one, other, other].into_iter()), Some((other, 2)));
        assert_eq!(crowd([other, one, one, other].into_iter()), Some((other, 2)), "the first to arrive");
        assert_eq!(crowd([].into_iter()), None);
    }

    #[test]
    fn a_place_goes_to_where_the_fewest_tests_run() {
        let (many, few, none) = (origin("192.0.2.1"), origin("192.0.2.2"), origin("192.0.2.3"));
        let running = HashMap::from([(many, 4), (few, 1)]);
        assert_eq!(next([many, few, none, none].into_iter(), &running, 4), Some(2));
        assert_eq!(next([many, few].into_iter(), &running, 4), Some(1));
        assert_eq!(next([many].into_iter(), &running, 4), None, "it has all of its places");
        assert_eq!(next([many].into_iter(), &running, 5), Some(0));
    }
}
