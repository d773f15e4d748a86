//! A plan, or its rollback, as a bash script to review and run: the plan in words, the nodes, functions that move a range,
//! then the ranges.

use std::io::{self, Write};

use slotscope_base::error::{Error, Result};
use slotscope_base::host::{host, host_and_port};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::short;
use slotscope_findings::summary::migration::Migration;
use slotscope_findings::wording::finding::about;
use slotscope_moves::plan::block_time::BlockingKey;
use slotscope_moves::plan::node_outcome::NodeOutcome;
use slotscope_moves::plan::outcome::{MoveOutcome, PlanOutcome};
use slotscope_read::source::collection::manifest::TlsEntry;
use slotscope_report::render::text::{self, wrapped};

use crate::plan::view::{self, node_name, size_of};

/// Width of comments in columns.
const WIDTH: usize = 80;
const REVIEW: &str = "Review it, then run it with bash: with --check it only looks at the nodes, and moves nothing. Where it was \
    stopped, run it again: it continues.";

/// The commands that move slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MoveCommands {
    /// The best that all servers of a collection have; else setslot
    Auto,
    /// CLUSTER SETSLOT and MIGRATE: every version
    Setslot,
    /// CLUSTER MIGRATESLOTS: Valkey 9.0 or later
    Valkey,
    /// CLUSTER MIGRATION: Redis 8.4 or later
    #[value(name = "redis-8.4")]
    Redis84,
    /// No script: slot ranges for restoring a backup on Amazon ElastiCache, as JSON
    Elasticache,
}

impl MoveCommands {
    /// Resolves `auto` for servers of these versions.
    pub(crate) fn resolved(self, versions: &[Option<&str>]) -> Self {
        match (self, Migration::of(versions.iter().copied())) {
            (MoveCommands::Auto, Migration::Setslot) => MoveCommands::Setslot,
            (MoveCommands::Auto, Migration::Valkey) => MoveCommands::Valkey,
            (MoveCommands::Auto, Migration::Redis) => MoveCommands::Redis84,
            (commands, _) => commands,
        }
    }

    /// Whether slots migrate as a whole, so that no key blocks its node.
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, MoveCommands::Valkey | MoveCommands::Redis84)
    }

    /// The shell functions that move slots, key by key or as a whole.
    fn functions(self) -> &'static [&'static str] {
        match self {
            MoveCommands::Auto | MoveCommands::Elasticache => &[],
            MoveCommands::Setslot => &[include_str!("script/setslot.sh")],
            MoveCommands::Valkey => &[
                include_str!("script/atomic.sh"),
                include_str!("script/valkey.sh"),
            ],
            MoveCommands::Redis84 => &[
                include_str!("script/atomic.sh"),
                include_str!("script/redis84.sh"),
            ],
        }
    }
}

/// The shell functions in every script, and the main part.
const COMMON: [&str; 6] = [
    include_str!("script/talk.sh"),
    include_str!("script/replies.sh"),
    include_str!("script/slots.sh"),
    include_str!("script/preflight.sh"),
    include_str!("script/watch.sh"),
    include_str!("script/verify.sh"),
];
const MAIN: &str = include_str!("script/main.sh");

/// The content of a script.
pub(crate) struct Script<'a> {
    /// The commands that move slots.
    pub commands: MoveCommands,
    /// The moves.
    pub outcome: &'a PlanOutcome,
    /// Whether it reverts the moves.
    pub is_rollback: bool,
    /// The TLS files, if the servers were read using TLS.
    pub tls: Option<&'a TlsEntry>,
}

impl Script<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "#!/usr/bin/env bash")?;
        self.write_comments(out)?;
        let outcome = self.outcome;
        write!(
            out,
            "\
# shellcheck disable=SC2016 # names are text
set -efuo pipefail
export LC_ALL=C

cli=(redis-cli{})  # and its options: --tls ...
command -v redis-cli >/dev/null || cli[0]=valkey-cli
user=''          # of an ACL; the password is that of REDISCLI_AUTH or VALKEYCLI_AUTH
if [[ -n ${{VALKEYCLI_AUTH-}} ]]; then REDISCLI_AUTH=${{REDISCLI_AUTH:-$VALKEYCLI_AUTH}}; fi
if [[ -n ${{REDISCLI_AUTH-}} ]]; then export REDISCLI_AUTH VALKEYCLI_AUTH=$REDISCLI_AUTH; fi
[[ -z $user ]] || cli+=(--user \"$user\")
pause_ms=0       # after each slot or range
max_minutes=0    # 0: no limit
evictions=stop   # where a node that gets slots evicts keys; or: allow
slots_planned={} keys_planned={} bytes_planned={}

declare -a name host announced port id keys_after
",
            self.tls.map_or_else(String::new, flags_of_tls),
            outcome.slots_moved,
            outcome.keys_moved.unwrap_or(0),
            outcome.bytes_moved.unwrap_or(0)
        )?;
        for (node, number) in outcome.nodes.iter().zip(1..) {
            self.write_node(node, number, out)?;
        }
        self.write_jobs(out)?;
        let mut functions = COMMON.iter().chain(self.commands.functions());
        functions.try_for_each(|text| out.write_all(text.as_bytes()))?;
        writeln!(out)?;
        let keys = self.outcome.big_keys.iter().filter(|_| self.blocks());
        keys.map(|key| quoted(&warning_of(key)))
            .try_for_each(|warning| writeln!(out, "say {warning}"))?;
        out.write_all(MAIN.as_bytes())
    }

    /// # Errors
    /// Slots are to move from or to a node of the cluster that cannot be connected to.
    pub(crate) fn check_addresses(&self) -> Result<()> {
        let is_hidden = |node: &&NodeOutcome| {
            let is_reached = text_of(&node.address).and_then(host_and_port).is_some();
            is_real(node) && self.is_used(&node.id) && !is_reached
        };
        match self.outcome.nodes.iter().find(is_hidden) {
            Some(node) => {
                let reason = "the listing of the cluster has no host for it that can be connected to, and slots are to move from \
                              or to it; correct cluster-announce-ip or cluster-announce-hostname there, and make a new plan";
                Err(Error::bad(node.id.to_string(), reason))
            }
            None => Ok(()),
        }
    }

    /// The plan in words, to read before running it.
    fn write_comments(&self, out: &mut dyn Write) -> io::Result<()> {
        let page = text::Page {
            width: WIDTH - 2,
            height: None,
            whole_names: false,
            rows: view::ROWS,
            rest: ", in --json",
        };
        let sections = view::sections(self.outcome, None, self.commands.is_atomic());
        let mut plan = Vec::new();
        text::write(&sections, page, &mut plan)?;
        let plan = anstream::adapter::strip_bytes(&plan).into_vec();
        let plan = String::from_utf8_lossy(&plan);
        let title = if self.is_rollback {
            "slotscope plan, taken back. The plan was to:"
        } else {
            "slotscope plan:"
        };
        let review = wrapped(REVIEW, page.width);
        let lines = [title, ""].into_iter().chain(plan.lines()).chain([""]);
        let mut lines = lines.chain(review.iter().map(String::as_str));
        lines.try_for_each(|line| writeln!(out, "{}", format!("# {line}").trim_end()))
    }

    /// The line of a node. Omitted if the node has failed, or if it is not involved and its address is unknown.
    fn write_node(&self, node: &NodeOutcome, number: usize, out: &mut dyn Write) -> io::Result<()> {
        let name = quoted(&node_name(node).to_string());
        let id = is_real(node).then(|| node.id.to_string());
        let id = quoted(&id.unwrap_or_default());
        let keys = node.load.keys.map_or_else(String::new, |keys| {
            let then = if self.is_rollback {
                keys.before
            } else {
                keys.after
            };
            format!(" keys_after[{number}]={then}")
        });
        let is_used = self.is_used(&node.id);
        match text_of(&node.address).and_then(host_and_port) {
            Some((host, port)) if is_used || !node.failed => {
                let host = quoted(host);
                let announced = text_of(&node.hostname).and_then(self::host);
                let announced = announced.map_or_else(String::new, |name| {
                    format!(" announced[{number}]={}", quoted(name))
                });
                writeln!(
                    out,
                    "name[{number}]={name} host[{number}]={host}{announced} port[{number}]={port} id[{number}]={id}{keys}"
                )
            }
            None if is_used => writeln!(
                out,
                "# Fill in host and port of the next: it is a primary of the cluster by then.\n\
                 name[{number}]={name} host[{number}]='' port[{number}]='' id[{number}]={id}{keys}"
            ),
            _ => Ok(()),
        }
    }

    /// Whether slots move from or to the node with this id.
    fn is_used(&self, id: &Name) -> bool {
        self.moves().any(|(from, to, _)| [from, to].contains(&id))
    }

    /// The moves as data: one line per job.
    fn write_jobs(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "\n# From node, to node, keys, bytes, ranges of slots.\njobs=("
        )?;
        for (from, to, job) in self.moves() {
            let spans = job.ranges.iter();
            let ranges = spans.map(|(first, last)| format!("{first}-{last}"));
            writeln!(
                out,
                "    '{} {} {} {} {}'",
                self.number(from),
                self.number(to),
                job.load.keys.unwrap_or(0),
                job.load.get(Metric::Bytes).copied().flatten().unwrap_or(0),
                ranges.collect::<Vec<_>>().join(" ")
            )?;
        }
        writeln!(out, ")")
    }

    /// The node's number in the script.
    fn number(&self, id: &Name) -> usize {
        let mut nodes = self.outcome.nodes.iter();
        nodes.position(|node| node.id == *id).map_or(0, |at| at + 1)
    }

    /// Whether keys are copied one by one, blocking both nodes.
    fn blocks(&self) -> bool {
        self.commands == MoveCommands::Setslot
    }

    /// Each move with its source and target.
    fn moves(&self) -> impl Iterator<Item = (&Name, &Name, &MoveOutcome)> {
        self.outcome.moves.iter().map(|job| {
            if !self.is_rollback {
                (&job.from, &job.to, job)
            } else {
                (&job.to, &job.from, job)
            }
        })
    }
}

/// The warning for a big key, which is copied in one piece.
fn warning_of(key: &BlockingKey) -> String {
    format!(
        "warning: MIGRATE blocks both nodes for {} while it copies the key {} of slot {}{}",
        about(key.block_ms as f64),
        short(&key.key),
        key.slot,
        size_of(key)
    )
}

/// Whether a node has the id of a server. Ids of even splits and added nodes are made up: only the node knows the real one.
fn is_real(node: &NodeOutcome) -> bool {
    node.id.0.len() == 40 && node.id.0.iter().all(u8::is_ascii_hexdigit)
}

/// An address or hostname as text.
fn text_of(name: &Option<Name>) -> Option<&str> {
    std::str::from_utf8(&name.as_ref()?.0).ok()
}

/// The TLS options for redis-cli.
fn flags_of_tls(tls: &TlsEntry) -> String {
    let files = [
        ("--cacert", &tls.ca),
        ("--cert", &tls.cert),
        ("--key", &tls.key),
    ];
    let given = files
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, Name::from(path.as_deref()?))))
        .map(|(flag, path)| format!(" {flag} {}", quoted(&path.to_string())));
    std::iter::once(" --tls".to_owned()).chain(given).collect()
}

/// Printable text quoted as one bash word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_tls_are_words_of_redis_cli() {
        let files = TlsEntry {
            ca: Some("/a b/ca'.pem".into()),
            ..TlsEntry::default()
        };
        assert_eq!(flags_of_tls(&files), r" --tls --cacert '/a b/ca'\''.pem'");
        assert_eq!(flags_of_tls(&TlsEntry::default()), " --tls");
    }

    #[test]
    fn a_hostile_address_is_one_word() {
        assert_eq!(quoted("$(reboot)'`x`;"), r"'$(reboot)'\''`x`;'");
    }
}
