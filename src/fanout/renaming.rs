//! Tries a renaming: keys are in the slots of their new names, and batches it splits or joins are counted.

use slotscope_engine::format::parse::words::Word;

use crate::fanout::Fanout;
use crate::fanout::batch::KeySlots;
use crate::fanout::findings::AfterRenaming;
use crate::whatif::rules::RenameRules;

impl Fanout<'_> {
    /// Applies these rules to keys.
    pub(crate) fn renaming(mut self, rules: RenameRules) -> Self {
        let start = rules.start();
        self.renaming = Some((rules, start));
        self
    }

    /// The effect of the renaming on batches.
    pub(super) fn renamed(&self) -> Option<AfterRenaming> {
        let (rules, at_work) = self.renaming.as_ref()?;
        Some(AfterRenaming {
            without_keys: rules.without_keys(&at_work.hits),
            ..self.after_renaming.clone()
        })
    }

    /// The slots of keys, by new names if they are renamed.
    pub(super) fn slots_of(&mut self, keys: &[Word<'_>]) -> Result<KeySlots, String> {
        let policy = self.policy;
        let slot = |key: &[u8]| {
            let reason = "no pattern of --policy matches one of its keys";
            policy.slot(key).ok_or_else(|| String::from(reason))
        };
        let today = keys.iter().map(|key| slot(key)).collect::<Result<_, _>>()?;
        let Some((rules, at_work)) = &mut self.renaming else {
            return Ok(KeySlots {
                then: today,
                today: Vec::new(),
            });
        };
        let mut new = Vec::new();
        let renamed = keys.iter().map(|key| {
            new.clear();
            if !rules.rename(key, policy, at_work, &mut new) {
                return Err(String::from("--retag makes a key too long for a server"));
            }
            slot(&new)
        });
        let then = renamed.collect::<Result<_, _>>()?;
        Ok(KeySlots { then, today })
    }
}
