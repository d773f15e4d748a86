//! The names of an input that schemes change. Only names with the prefix of a family that some scheme changes are
//! tokenized; in most inputs a comparison skips all others.

use crate::families::Families;
use crate::scheme::Choice;
use crate::spelling::Renaming;
use crate::tokens::Tokens;

/// Finds the new names under all schemes.
pub(super) struct Changing<'a> {
    families: &'a Families,
    renamings: &'a [Renaming],
    /// By family: the schemes that change it, grouped by identical renaming.
    schemes: Vec<Vec<Vec<usize>>>,
    /// The prefixes of these families' names; none is a prefix of another.
    prefixes: Vec<Vec<u8>>,
    tokens: Tokens,
    new: Vec<u8>,
}

impl<'a> Changing<'a> {
    /// Applies `renamings` to the names of `families`.
    pub(super) fn new(families: &'a Families, renamings: &'a [Renaming]) -> Self {
        let changing = |number: usize| {
            let is_changed =
                |renaming: &Renaming| renaming.scheme.get(number as u32) != Choice::Keep;
            let mut alike: Vec<Vec<usize>> = Vec::new();
            for (at, renaming) in renamings.iter().enumerate() {
                if !is_changed(renaming) {
                    continue;
                }
                let is_same = |group: &&mut Vec<usize>| {
                    renamings[group[0]].is_same_for(number as u32, renaming)
                };
                match alike.iter_mut().find(is_same) {
                    Some(alike) => alike.push(at),
                    None => alike.push(vec![at]),
                }
            }
            alike
        };
        let schemes: Vec<Vec<Vec<usize>>> = (0..families.list.len()).map(changing).collect();
        let listed = families.list.iter().zip(&schemes);
        let changed = listed.filter(|(_, schemes)| !schemes.is_empty());
        let mut prefixes: Vec<Vec<u8>> = changed.map(|(family, _)| family.prefix()).collect();
        prefixes.sort();
        prefixes.dedup_by(|longer, shorter| longer.starts_with(shorter));
        Changing {
            families,
            renamings,
            schemes,
            prefixes,
            tokens: families.tokens(),
            new: Vec::new(),
        }
    }

    /// Calls `take` with each new name of `name` and the schemes that produce it. Returns the family if any scheme
    /// changes it.
    pub(super) fn each_new_name(
        &mut self,
        name: &[u8],
        mut take: impl FnMut(&[usize], &[u8]),
    ) -> Option<usize> {
        let after = self
            .prefixes
            .partition_point(|prefix| prefix.as_slice() <= name);
        let may_change = after
            .checked_sub(1)
            .is_some_and(|at| name.starts_with(&self.prefixes[at]));
        if !may_change {
            return None;
        }
        let number = self.families.read(name, &mut self.tokens);
        let family = &self.families.list[number];
        for alike in &self.schemes[number] {
            self.new.clear();
            let renaming = &self.renamings[alike[0]];
            renaming.rename(number as u32, family, &self.tokens, &mut self.new);
            take(alike, &self.new);
        }
        Some(number).filter(|number| !self.schemes[*number].is_empty())
    }
}
