//! The modules of a crate, and which of them a path leads to.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use syn::{Item, ItemMod, visit::Visit};

use crate::uses::{Found, is_test};

/// What each module uses of which other one.
pub type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Names from the crate's root on.
pub type Names = Vec<String>;

/// More re-exports of re-exports than anybody writes.
const LINKS_MAX: usize = 20;

/// All modules of a crate by their names, those that are written out in a file too.
#[derive(Default)]
pub struct Crate {
    scopes: BTreeMap<Names, Scope>,
}

/// One module.
struct Scope {
    /// Names of the file that it stands in.
    file: Names,
    /// What its `use` lines bring in, by the name that it has here.
    imports: BTreeMap<String, Names>,
    found: Found,
}

/// Where a module stands, and where the files of its children lie.
struct Place {
    names: Names,
    file: Names,
    folder: PathBuf,
}

impl Crate {
    /// Reads a crate from its root file on; `read` gives a file's text, if there is such a file.
    pub fn parse(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut crate_ = Self::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        let text = read(root).unwrap_or_else(|| panic!("{} cannot be read", root.display()));
        crate_.add(Place { names: Names::new(), file: Names::new(), folder }, &items(&text, root), read);
        crate_.link();
        crate_
    }

    /// Which module uses what of which other one.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (names, scope) in &self.scopes {
            let from = uses.entry(path_of(&scope.file)).or_default();
            let private = scope.found.imports.iter().filter(|import| !import.offered);
            let imported = private.filter_map(|import| self.absolute(names, &import.path, false));
            let named = scope.found.paths.iter().filter_map(|path| self.absolute(names, path, true));
            for path in imported.chain(named) {
                let target = &self.scopes[&self.defining(&path)].file;
                if *target != scope.file {
                    let what = path.get(target.len()).or(path.last()).cloned().unwrap_or_default();
                    from.entry(path_of(target)).or_default().insert(what);
                }
            }
        }
        uses
    }

    fn add(&mut self, place: Place, items: &[Item], read: &dyn Fn(&Path) -> Option<String>) {
        let mut found = Found::default();
        for item in items {
            found.visit_item(item);
        }
        let Place { names, file, folder } = place;
        for module in items.iter().filter_map(child) {
            let name = module.ident.to_string();
            let child = [names.clone(), vec![name.clone()]].concat();
            let inner = folder.join(&name);
            if let Some((_, items)) = &module.content {
                self.add(Place { names: child, file: file.clone(), folder: inner }, items, read);
            } else {
                let files = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
                let (path, text) = files
                    .iter()
                    .find_map(|path| Some((path, read(path)?)))
                    .unwrap_or_else(|| panic!("no file of the module {name} in {}", folder.display()));
                self.add(
                    Place { names: child.clone(), file: child, folder: inner },
                    &crate::modules::items(&text, path),
                    read,
                );
            }
        }
        self.scopes.insert(names, Scope { file, imports: BTreeMap::new(), found });
    }

    /// Finds out what each `use` brings in, once all modules are known.
    fn link(&mut self) {
        let mut linked = Vec::new();
        for (names, scope) in &self.scopes {
            for import in &scope.found.imports {
                let path = self.absolute(names, &import.path, false);
                linked.extend(path.map(|path| (names.clone(), import.name.clone(), path)));
            }
        }
        for (names, name, path) in linked {
            if let Some(scope) = self.scopes.get_mut(&names) {
                scope.imports.insert(name, path);
            }
        }
    }

    /// A path as names from the root on; nothing if it leads out of the crate. `code`: it stands in code, where what was
    /// brought in has its short name, and where a name alone is no module.
    fn absolute(&self, names: &Names, path: &[String], code: bool) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        let scope = self.scopes.get(names)?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([names, rest].concat()),
            "super" => {
                let parent = names[..names.len().checked_sub(1)?].to_vec();
                let more = rest.first().is_some_and(|next| next == "super");
                if more { self.absolute(&parent, rest, code) } else { Some([&parent, rest].concat()) }
            }
            _ if (!code || !rest.is_empty()) && self.scopes.contains_key(&[names, path.get(..1)?].concat()) => {
                Some([names, path].concat())
            }
            _ => scope.imports.get(first).filter(|_| code).map(|import| [import, rest].concat()),
        }
    }

    /// The module that a path ends in, or that defines what it names, wherever that is re-exported.
    fn defining(&self, path: &[String]) -> Names {
        let mut path = path.to_vec();
        for _ in 0..LINKS_MAX {
            let module =
                (0..=path.len()).rev().map(|count| &path[..count]).find(|names| self.scopes.contains_key(*names));
            let module = module.unwrap_or_default().to_vec();
            let Some(name) = path.get(module.len()) else { return module };
            match self.scopes[&module].imports.get(name) {
                Some(import) => path = [import, &path[module.len() + 1..]].concat(),
                None => return module,
            }
        }
        panic!("{} leads nowhere", path.join("::"))
    }
}

fn child(item: &Item) -> Option<&ItemMod> {
    match item {
        Item::Mod(module) if !is_test(&module.attrs) => Some(module),
        _ => None,
    }
}

fn items(text: &str, path: &Path) -> Vec<Item> {
    syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).items
}

fn path_of(file: &[String]) -> String {
    if file.is_empty() { "crate".into() } else { file.join("::") }
}
