//! How commands depend on all their keys.

use slotscope_base::command::Command;
use slotscope_read::format::parse::words::Word;

/// Whether a command's result depends on all its keys together, so that no client can split it across slots.
pub(super) fn must_be_together(command: Option<&str>) -> bool {
    let can_be_split = |name| {
        matches!(
            name,
            "mget" | "mset" | "del" | "unlink" | "exists" | "touch" | "json.mget" | "watch"
        )
    };
    command.is_some_and(|name| !can_be_split(name))
}

/// Whether a command runs a script, whose commands follow in MONITOR.
pub(super) fn runs_script(name: &str) -> bool {
    matches!(
        name,
        "eval" | "evalsha" | "eval_ro" | "evalsha_ro" | "fcall" | "fcall_ro"
    )
}

/// The words that are the keys of a command.
pub(super) fn keys_of<'w>(
    command: &Command,
    mut words: Vec<Word<'w>>,
) -> Result<Vec<Word<'w>>, String> {
    let places = command.keys(&words)?.into_iter();
    Ok(places
        .map(|place| std::mem::take(&mut words[place]))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_split_need_not_be_together() {
        let must = |name| must_be_together(Some(name));
        assert!(must("eval") && must("multi") && must("sinterstore") && must("msetnx"));
        assert!(!must("mget") && !must("unlink") && !must_be_together(None));
    }
}
