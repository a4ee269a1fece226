//! What stands in one module: its `use` lines, and every path in its code, in what macros are given too.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, ItemUse, Macro, Meta, Path, UseTree, Visibility, visit};

use crate::modules::Names;

/// What stands in one module, outside of tests.
#[derive(Default)]
pub struct Found {
    /// Its `use` lines, one a name.
    pub imports: Vec<Import>,
    /// All other paths.
    pub paths: Vec<Names>,
}

/// One name that a `use` brings in.
pub struct Import {
    /// The name that it has here.
    pub name: String,
    /// What it is, as written.
    pub path: Names,
    /// Others may use it from here.
    pub offered: bool,
}

impl<'ast> visit::Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        // Modules that are written out are looked at for themselves.
        if !matches!(item, Item::Mod(_)) && !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let offered = !matches!(item.vis, Visibility::Inherited);
            self.add_tree(&item.tree, &mut Names::new(), offered);
        }
    }

    /// Whom something is open to, it does not use.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.add_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

impl Found {
    fn add_tree(&mut self, tree: &UseTree, before: &mut Names, offered: bool) {
        let with = |before: &Names, name: &str| [before.clone(), vec![name.to_owned()]].concat();
        let mut add = |name: String, path: Names| self.imports.push(Import { name, path, offered });
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_tree(&path.tree, before, offered);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                add(before.last().cloned().unwrap_or_default(), before.clone());
            }
            UseTree::Name(name) => add(name.ident.to_string(), with(before, &name.ident.to_string())),
            UseTree::Rename(name) if name.ident == "self" => add(name.rename.to_string(), before.clone()),
            UseTree::Rename(name) => add(name.rename.to_string(), with(before, &name.ident.to_string())),
            UseTree::Glob(_) => add("*".into(), before.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(tree, before, offered)),
        }
    }

    /// Names that are joined by `::` are a path.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Names::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.paths.push(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.paths.push(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.paths.push(path);
    }
}

/// Whether an item is there for tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
