//! Signs of damage in the files read, regardless of their keys: dumps of nodes that cover the same slots, and RDB files
//! of different times.

use slotscope_base::name::Name;
use slotscope_model::FileFacts;
use slotscope_model::integrity::{Damage, Integrity};
use slotscope_topology::overlap::Overlap;

use crate::summary::integrity::FilesApart;
use crate::wording::integrity as said;

/// Backing up all nodes in sequence takes less than this, in seconds.
const AN_HOUR: u64 = 3600;
/// Files a day apart are not one cluster state.
const A_DAY: u64 = 24 * AN_HOUR;

/// The sign for an overlap of `files`.
pub fn of_overlap(overlap: &Overlap, files: &[FileFacts], are_snapshots: bool) -> Integrity {
    let name = |at: usize| {
        files
            .get(at)
            .map_or_else(Name::default, |file| file.name.clone())
    };
    let names = overlap.files.map(name);
    let sentence = said::shared_slots(names, &overlap.ranges, overlap.others, are_snapshots);
    Integrity::new(Damage::Mixed, sentence)
}

/// Files with keys that were written more than an hour apart.
pub fn apart(files: &[FileFacts]) -> Option<FilesApart> {
    let times = || {
        let with_keys = files.iter().filter(|file| file.keys > 0);
        with_keys.filter_map(|file| Some((&file.name, file.written?)))
    };
    // Ties take the first file, which keeps the names deterministic.
    let oldest = times().min_by_key(|(_, at)| *at)?;
    let newest = times().rev().max_by_key(|(_, at)| *at)?;
    let owned = |(name, at): (&Name, u64)| (name.clone(), at);
    let apart = FilesApart {
        oldest: owned(oldest),
        newest: owned(newest),
    };
    (apart.seconds() > AN_HOUR).then_some(apart)
}

impl FilesApart {
    pub(crate) fn seconds(&self) -> u64 {
        self.newest.1 - self.oldest.1
    }

    /// Whether the gap is too long for the files to be one cluster state.
    pub(crate) fn is_over_a_day(&self) -> bool {
        self.seconds() > A_DAY
    }
}

/// Reading stopped before the end of the input.
pub(crate) fn incomplete() -> Integrity {
    Integrity::new(Damage::Incomplete, said::INCOMPLETE.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, written: Option<u64>) -> FileFacts {
        FileFacts {
            name: name.into(),
            keys: 1,
            written,
            ..FileFacts::default()
        }
    }

    #[test]
    fn files_of_one_hour_are_together_and_those_of_days_are_not() {
        let base = 1_795_242_395;
        let found = |later: u64| {
            let files = [
                file("b", Some(base + later)),
                file("text", None),
                file("a", Some(base)),
            ];
            apart(&files)
        };
        assert_eq!(found(3600), None);
        let hours = found(3601).unwrap();
        assert_eq!((hours.oldest.0, hours.newest.0), ("a".into(), "b".into()));
        assert!(!found(86_400).unwrap().is_over_a_day());
        assert!(found(86_401).unwrap().is_over_a_day());
        let empty = FileFacts {
            keys: 0,
            ..file("old", Some(0))
        };
        assert_eq!(apart(&[empty, file("new", Some(base))]), None);
    }
}
