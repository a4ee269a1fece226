//! Which modules use each other in a circle.

use std::{collections::BTreeSet, fmt::Write};

use crate::modules::Uses;

/// Every set of modules each of which leads to all others, with the uses inside it.
pub fn circles(uses: &Uses) -> Vec<String> {
    let reached: Vec<BTreeSet<&str>> = uses.keys().map(|module| reachable(module, uses)).collect();
    let mut found: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (module, reached_from_it) in uses.keys().zip(&reached) {
        let leads_back = |other: &&str| {
            uses.keys().zip(&reached).any(|(name, back)| name == other && back.contains(module.as_str()))
        };
        let circle: BTreeSet<&str> = reached_from_it.iter().copied().filter(leads_back).collect();
        if !circle.is_empty() {
            found.insert(circle);
        }
    }
    found.iter().map(|circle| described(circle, uses)).collect()
}

fn reachable<'a>(module: &'a str, uses: &'a Uses) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        let next = uses.get(module).into_iter().flat_map(|used| used.keys());
        open.extend(next.map(String::as_str).filter(|next| reached.insert(*next)));
    }
    reached
}

fn described(circle: &BTreeSet<&str>, uses: &Uses) -> String {
    let names: Vec<&str> = circle.iter().copied().collect();
    let mut text = format!("{{{}}}", names.join(", "));
    for module in circle {
        for (used, what) in uses.get(*module).into_iter().flatten().filter(|(used, _)| circle.contains(used.as_str())) {
            let what: Vec<&str> = what.iter().map(String::as_str).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n    {module} uses {used}: {}", what.join(", "));
        }
    }
    text
}
