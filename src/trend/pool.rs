//! The names of all reports' nodes, each once, in bounded memory.

use std::collections::BTreeMap;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;

/// Maximum memory of all names, in bytes.
const MOST_BYTES: usize = 512 << 20;
/// Memory per name in addition to its bytes.
const ROW_BYTES: usize = 32;

/// The names of all reports, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    ids: BTreeMap<Name, u32>,
    bytes: usize,
}

impl Pool {
    /// The id of a name.
    ///
    /// # Errors
    /// The names need more memory than allowed.
    pub(crate) fn id(&mut self, name: &Name) -> Result<u32> {
        self.take(ROW_BYTES)?;
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        self.take(name.0.len() + 2 * ROW_BYTES)?;
        let id = self.ids.len() as u32;
        self.ids.insert(name.clone(), id);
        Ok(id)
    }

    /// Accounts for memory of names.
    ///
    /// # Errors
    /// More than allowed.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes <= MOST_BYTES {
            return Ok(());
        }
        let what = "their names need more than 512 MiB of memory; name fewer of them";
        Err(Error::bad("the reports", what))
    }

    /// The names by their ids.
    pub(crate) fn names(&self) -> Vec<&Name> {
        let mut names: Vec<_> = self.ids.iter().collect();
        names.sort_by_key(|(_, id)| **id);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_a_bounded_amount_of_memory() {
        let mut pool = Pool {
            bytes: MOST_BYTES - 300,
            ..Pool::default()
        };
        pool.id(&Name::from("short")).unwrap();
        let refused = pool.id(&Name(vec![b'x'; 300])).unwrap_err().to_string();
        assert!(refused.contains("more than 512 MiB"), "{refused}");
    }
}
