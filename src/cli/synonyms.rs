//! Verbs of other tools, with the equivalent commands here.

/// Commands of redis-cli and its relatives that users may type.
const SYNONYMS: [(&str, &[&str]); 9] = [
    (
        "analyze",
        &[
            "analyse", "report", "scan", "bigkeys", "memkeys", "keystats", "hotkeys", "skew",
            "stats", "info",
        ],
    ),
    (
        "plan",
        &["rebalance", "reshard", "balance", "migrate", "move", "fix"],
    ),
    (
        "keyslot",
        &["slot", "slots", "hash", "hashslot", "crc16", "crc"],
    ),
    ("collect", &["fetch", "download", "backup", "pull"]),
    ("timeline", &["monitor", "heatmap", "history"]),
    ("top", &["live", "watch"]),
    ("fanout", &["crossslot", "multi-key", "batches"]),
    ("advise", &["tags", "tag", "hashtags", "hash-tags"]),
    ("diff", &["compare"]),
];

/// The command equivalent to another tool's verb.
pub(super) fn command_for(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let mut rows = SYNONYMS.iter();
    rows.find(|(_, words)| words.contains(&word.as_str()))
        .map(|&(command, _)| command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_verb_leads_to_a_command_and_none_is_one() {
        let mut cli = Cli::command();
        cli.build();
        for (command, words) in SYNONYMS {
            assert!(cli.find_subcommand(command).is_some(), "{command}");
            for word in words {
                assert!(cli.find_subcommand(word).is_none(), "{word}");
                assert_eq!(command_for(&word.to_uppercase()), Some(command));
            }
        }
    }
}
