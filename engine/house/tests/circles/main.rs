//! No modules of a crate use each other in a circle. A module is a file; whoever names something of another one uses it,
//! wherever that is re-exported. A re-export alone is no use, so that a `mod.rs` or `lib.rs` may offer what its children
//! have; one that defines what its children use may not use them. What only tests use does not count.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod circles;
mod modules;
mod uses;

use std::{
    fs,
    path::{Path, PathBuf},
};

use self::{circles::circles, modules::Crate};

/// Folders of all crates.
fn crates() -> Vec<PathBuf> {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the workspace");
    let folders = fs::read_dir(engine).expect("the workspace can be read").filter_map(Result::ok);
    let mut all: Vec<PathBuf> = folders.map(|folder| folder.path()).filter(|folder| root(folder).is_some()).collect();
    all.sort();
    all
}

fn root(folder: &Path) -> Option<PathBuf> {
    ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.is_file())
}

/// The circles of a crate that consists of these files, with what is used on each way.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    circles(&Crate::parse(Path::new("lib.rs"), &read).uses())
}

#[test]
fn no_modules_of_a_crate_use_each_other_in_a_circle() {
    let crates = crates();
    assert!(crates.len() >= 7, "{crates:?}");
    let mut all = Vec::new();
    for folder in crates {
        let root = root(&folder).expect("was there before");
        let uses = Crate::parse(&root, &|path| fs::read_to_string(path).ok()).uses();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(circles(&uses).into_iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(all.is_empty(), "{} circles\n{}", all.len(), all.join("\n"));
}

#[test]
fn a_circle_of_two_is_found_and_says_what_is_used() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::Thing; pub fn make() -> Thing { Thing }"),
        ("b.rs", "pub struct Thing; fn make() { super::a::make(); }"),
    ];
    assert_eq!(circles_of(&files), ["{a, b}\n    a uses b: Thing\n    b uses a: make"]);
}

#[test]
fn a_way_that_is_no_circle_is_none() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
        ("a.rs", "use crate::b; pub struct A(b::B); impl A { pub(super) fn f() {} }"),
        ("b.rs", "use super::c::C; pub struct B(C);"),
        ("c.rs", "pub struct C; #[cfg(test)] mod tests { use crate::A; fn f(_: A) {} }"),
    ];
    assert_eq!(circles_of(&files), [""; 0]);
}

#[test]
fn a_re_export_is_no_use_and_leads_to_where_it_points() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::A;"),
        ("a/mod.rs", "mod inner; pub use inner::A; use crate::b::B; fn f(_: B) {}"),
        ("a/inner.rs", "pub struct A;"),
        ("b.rs", "pub struct B(crate::A);"),
    ];
    assert_eq!(circles_of(&files), [""; 0]);
}

#[test]
fn a_parent_that_defines_what_its_child_uses_may_not_use_the_child() {
    for parent in [
        "mod b; use b::f; pub struct A;",
        "mod b; pub struct A; fn g() { b::f() }",
        "mod b; pub use b::F; pub struct A(F);",
    ] {
        let files = [("lib.rs", "mod a;"), ("a.rs", parent), ("a/b.rs", "pub struct F; pub fn f() { super::A; }")];
        assert_eq!(circles_of(&files).len(), 1, "{parent}");
    }
}

#[test]
fn macros_and_modules_that_are_written_out_count() {
    let files = [
        ("lib.rs", "mod a; pub mod offered { pub use crate::a::A; } fn f() { println!(\"{}\", a::f()); }"),
        ("a.rs", "pub struct A; pub fn f() -> u8 { vec![crate::f()][0] }"),
    ];
    assert_eq!(circles_of(&files), ["{a, crate}\n    a uses crate: f\n    crate uses a: f"]);
}
