//! Names of objects under a prefix, page by page, with limits for servers whose pages never end.

use object_store::ObjectMeta;
use object_store::list::PaginatedListOptions;

use crate::refusal::Refusal;
use crate::store::Store;
use slotscope_base::glob::Glob;

/// Limit for the objects of one argument.
const MOST_OBJECTS: usize = 100_000;
/// Limit for the pages of one argument; each has a thousand names, all of which a pattern may reject.
const MOST_PAGES: usize = 1000;

/// The description file of collections by `slotscope collect`.
const COLLECTION: &str = "collect.json";

/// The objects that an argument names.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// The objects, sorted by the bytes of their names.
    pub objects: Vec<ObjectMeta>,
    /// Number of folders under the prefix, which are not searched.
    pub folders: usize,
}

/// All visible objects directly under a prefix.
///
/// # Errors
/// The store refuses, or the list is too long.
pub(super) async fn under(store: &Store, prefix: &str) -> Result<Listed, Refusal> {
    let is_visible = |name: &str| {
        let leaf = name.strip_prefix(prefix).unwrap_or(name);
        !leaf.is_empty() && !leaf.starts_with('.')
    };
    let listed = list(store, prefix, false, is_visible).await?;
    let is_collection = |object: &ObjectMeta| object.location.filename() == Some(COLLECTION);
    if listed.objects.iter().any(is_collection) {
        Err("is what slotscope collect wrote; copy it into a directory, then name that".into())
    } else {
        Ok(listed)
    }
}

/// All objects whose names match.
///
/// # Errors
/// As for `under`.
pub(super) async fn matching(store: &Store, key: &str) -> Result<Listed, Refusal> {
    let pattern = Pattern::of(key);
    let is_wanted = |name: &str| pattern.matches(name) || key == name;
    // Every match starts with the part before the first wildcard.
    let wild = key.find(['*', '?', '[']).unwrap_or(key.len());
    let (fixed, rest) = key.split_at(key[..wild].rfind('/').map_or(0, |slash| slash + 1));
    let is_deep = rest.contains('/') || pattern.has_folders();
    let listed = list(store, fixed, is_deep, is_wanted).await?;
    Ok(Listed {
        folders: 0,
        ..listed
    })
}

/// A pattern for object names, as in a shell, by folder: `*` and `?` match within one, `**` any number of them.
struct Pattern(Vec<Part>);

enum Part {
    Folders,
    Name(Glob),
}

impl Pattern {
    fn of(key: &str) -> Self {
        let name = |text: &str| Part::Name(Glob::new(text.replace("[!", "[^").as_bytes()));
        let parts = key
            .split('/')
            .flat_map(|part| match part.strip_prefix("**") {
                Some("") => [Some(Part::Folders), None],
                Some(rest) => [Some(Part::Folders), Some(name(&format!("*{rest}")))],
                None => [Some(name(part)), None],
            });
        Pattern(parts.flatten().collect())
    }

    fn has_folders(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Folders))
    }

    fn matches(&self, name: &str) -> bool {
        let folders: Vec<&str> = name.split('/').collect();
        let (mut at, mut folder) = (0, 0);
        // The places to continue at if the last `**` takes one folder more.
        let mut again = None;
        while folder < folders.len() {
            match self.0.get(at) {
                Some(Part::Folders) => {
                    again = Some((at + 1, folder + 1));
                    at += 1;
                }
                Some(Part::Name(glob)) if glob.matches(folders[folder].as_bytes()) => {
                    at += 1;
                    folder += 1;
                }
                _ => {
                    let Some((after, next)) = again else {
                        return false;
                    };
                    again = Some((after, next + 1));
                    (at, folder) = (after, next);
                }
            }
        }
        self.0[at..]
            .iter()
            .all(|part| matches!(part, Part::Folders))
    }
}

async fn list(
    store: &Store,
    prefix: &str,
    is_deep: bool,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Listed, Refusal> {
    let kind = store.address.kind;
    let pages = store
        .pages
        .as_ref()
        .ok_or("no list of names; name a file")?;
    let mut listed = Listed::default();
    let mut token = None;
    for _ in 0..MOST_PAGES {
        let options = PaginatedListOptions {
            delimiter: (!is_deep).then_some("/".into()),
            page_token: token.take(),
            ..PaginatedListOptions::default()
        };
        let prefix_if_any = Some(prefix).filter(|prefix| !prefix.is_empty());
        let answer = pages.list_paginated(prefix_if_any, options).await;
        let page = answer.map_err(|error| Refusal::of(&error, kind))?;
        listed.folders += page.result.common_prefixes.len();
        // Web consoles create a folder as an empty object named like the prefix.
        let is_folder = |name: &str| prefix.strip_suffix('/') == Some(name);
        let objects = page.result.objects.into_iter().filter(|object| {
            let name = object.location.as_ref();
            is_wanted(name) && !(object.size == 0 && is_folder(name))
        });
        listed.objects.extend(objects);
        if listed.objects.len() > MOST_OBJECTS {
            return Err("more than 100000 objects; name fewer of them, by a longer prefix".into());
        }
        token = page.page_token;
        if token.is_none() {
            listed
                .objects
                .sort_by(|a, b| a.location.as_ref().cmp(b.location.as_ref()));
            return Ok(listed);
        }
    }
    Err("a list of more than 1000 pages; name a longer prefix".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("a/*.csv", "a/b.csv", true),
            ("a/*.csv", "a/b/c.csv", false),
            ("*/*.csv", "a/b/c.csv", false),
            ("a/**.csv", "a/b/c.csv", true),
            ("a/**/c.csv", "a/b/x/c.csv", true),
            ("a/**/c.csv", "a/c.csv", true),
            ("a/*/d/**.rdb", "a/x/d/y/z.rdb", true),
            ("a/*/d/**.rdb", "a/x/old/d/z.rdb", false),
            ("a/**", "a/b/c", true),
            ("?", "/", false),
            ("a?", "a", false),
            ("n[0-3].gz", "n2.gz", true),
            ("n[0-3].gz", "n4.gz", false),
            ("n[!0-3].gz", "n4.gz", true),
            ("n[!a]", "n/", false),
            ("[^-.][a-z]", "xy", true),
            ("a.c", "abc", false),
        ] {
            let is_match = Pattern::of(pattern).matches(name);
            assert_eq!(is_match, expected, "{pattern} {name}");
        }
    }
}
