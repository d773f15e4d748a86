//! Verbs and flags of other tools, with what to type here: the most similar word is often a wrong one (`--out` for
//! `--host`).

use clap::error::{ContextKind, ContextValue};

use crate::cli::COMMANDS;

/// Commands of redis-cli and its relatives that users may type.
const SYNONYMS: [(&str, &[&str]); 10] = [
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
    ("capacity", &["trend", "forecast", "growth", "sizing"]),
];

/// Flags of other tools, the commands they are typed for (all, if empty), and what to write here; empty if there is no
/// equivalent.
const FLAGS: [(&[&str], &[&str], &str); 8] = [
    (
        &["--host", "--port", "--hostname", "--addr", "--server", "-u"],
        &[
            "analyze", "collect", "top", "exporter", "plan", "whatif", "tally", "advise",
        ],
        "name servers by URL: redis://HOST:PORT",
    ),
    (&["--verbose", "-v", "--debug", "--quiet", "-q"], &[], ""),
    (
        &["--to", "--shards"],
        &["plan"],
        "--add N plans for N more primaries, --remove NODE for fewer",
    ),
    (
        &["--max-moves", "--max-migrations", "--cluster-slots"],
        &["plan"],
        "--max-slots N and --max-bytes SIZE bound the moves",
    ),
    (
        &["--threshold", "--cluster-threshold"],
        &["plan"],
        "--tolerance PERCENT is how far above its fair share a node may stay",
    ),
    (
        &["--dry-run", "--simulate", "--cluster-simulate"],
        &["plan"],
        "plan moves nothing: it prints the moves, and with --commands auto a script to review",
    ),
    (
        &["--add", "--to", "--shards"],
        &["whatif"],
        "--to-nodes N is the same keys on N nodes",
    ),
    (
        &["--key", "--column"],
        &["analyze", "plan", "whatif", "tally"],
        "--key-column NAME says where the keys of a table are",
    ),
];

/// Says what to write for a flag of another tool in the error of an unknown one.
pub(super) fn tip(error: &mut clap::Error, command: &str) {
    // "to pass '-n' as a value, use '-- -n'" would suggest a file of that name.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let flag = argument.split('=').next().unwrap_or_default();
    let fits = |(flags, commands, _): &&(&[&str], &[&str], &str)| {
        flags.contains(&flag) && (commands.is_empty() || commands.contains(&command))
    };
    let Some((.., tip)) = FLAGS.iter().find(fits) else {
        return;
    };
    error.remove(ContextKind::SuggestedArg);
    // The usage names the guess, too.
    error.remove(ContextKind::Usage);
    if !tip.is_empty() {
        let tips = vec![(*tip).into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// The command equivalent to another tool's verb, if the program has it.
pub(super) fn command_for(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let mut rows = SYNONYMS.iter();
    rows.find(|(_, words)| words.contains(&word.as_str()))
        .map(|&(command, _)| command)
        .filter(|command| COMMANDS.iter().any(|known| known.name == *command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::program;

    /// Whether no room is left out.
    fn is_whole() -> bool {
        cfg!(feature = "rooms")
    }

    #[test]
    fn a_flag_of_another_tool_is_none_of_this_one_and_its_tip_names_one() {
        let mut cli = program();
        cli.build();
        for (flags, commands, tip) in FLAGS.iter().copied() {
            for command in commands {
                let Some(command) = cli.find_subcommand(command) else {
                    assert!(!is_whole(), "{command}");
                    continue;
                };
                let longs = || command.get_arguments().filter_map(clap::Arg::get_long);
                for flag in flags {
                    let is_there = longs().any(|long| format!("--{long}") == *flag);
                    assert!(!is_there, "{flag} of {}", command.get_name());
                }
                let named = tip.split(' ').filter_map(|word| word.strip_prefix("--"));
                named.for_each(|name| assert!(longs().any(|long| long == name), "{tip}"));
            }
        }
    }

    #[test]
    fn every_verb_leads_to_a_command_and_none_is_one() {
        let mut cli = program();
        cli.build();
        for (command, words) in SYNONYMS {
            let known = cli.find_subcommand(command).map(|_| command);
            assert!(known.is_some() || !is_whole(), "{command}");
            for word in words {
                assert!(cli.find_subcommand(word).is_none(), "{word}");
                assert_eq!(command_for(&word.to_uppercase()), known);
            }
        }
    }
}
