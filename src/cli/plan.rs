//! The flags of `slotscope plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use slotscope_app::cli::input::kind::NOTHING;
use slotscope_app::cli::input::servers::ServerArgs;
use slotscope_app::cli::input::{Input, InputFlags};
use slotscope_app::cli::judging::JudgeArgs;
use slotscope_app::cli::printing::{OutputArgs, Rows, print_lines};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::values::{duration, memory_size, node_weights, slot_ranges};
use slotscope_app::cli::{Command, Ending, Run, say};
use slotscope_app::options::headings::{MOVES, OUTPUT};
use slotscope_app::options::{HashSpec, NodeSpec};
use slotscope_app::pipeline::Analysis;
use slotscope_app::pipeline::judging::Findings;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_findings::summary::migration::Migration;
use slotscope_model::Summary;
use slotscope_moves::plan::cluster::MoveFlags;
use slotscope_moves::plan::doubts::incomplete;
use slotscope_moves::plan::outcome::PlanOutcome;
use slotscope_moves::steps::Service;
use slotscope_planner::move_request::MoveLimits;
use slotscope_read::source::collection::manifest::TlsEntry;
use slotscope_report::output::{Guard, SingleFile};
use slotscope_topology::Topology;

use crate::plan::script::{MoveCommands, Script};
use crate::plan::shards::Shards;
use crate::plan::view;

/// Which slots to move where, to even out the nodes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// What of a key is hashed
    #[command(flatten)]
    pub hashing: HashSpec,
    /// How nodes are judged
    #[command(flatten)]
    pub judging: JudgeArgs,
    /// Empty primaries that will be added: new-1, new-2 ...
    #[arg(long, help_heading = MOVES, value_name = "N", default_value_t = 0)]
    pub add: usize,
    /// A primary to be emptied; may be repeated
    ///
    /// By hostname, address or id, or the start of one.
    #[arg(long, help_heading = MOVES, value_name = "ID")]
    pub remove: Vec<String>,
    /// Move at most this many slots
    #[arg(long, help_heading = MOVES, value_name = "N", hide_short_help = true)]
    pub max_slots: Option<u64>,
    /// Move at most this many bytes, as in redis.conf: 4gb, 512mb
    #[arg(long, help_heading = MOVES, value_name = "SIZE", hide_short_help = true)]
    pub max_bytes: Option<String>,
    /// Slots that stay where they are: 0-5,77
    #[arg(long, help_heading = MOVES, value_name = "SLOTS", hide_short_help = true)]
    pub exclude: Vec<String>,
    /// How far above its fair share a node may stay; 3 for memory, 10 for load
    ///
    /// Or above its heaviest slot, if that is more than its share. It applies to the load that is evened out first.
    #[arg(long, help_heading = MOVES, value_name = "PERCENT", hide_short_help = true)]
    pub tolerance: Option<f64>,
    /// Do not move slots whose largest key would block a node for longer: 100ms, 2s
    ///
    /// A second of MIGRATE is about 300 MiB, 700,000 fields of a hash, 2,000,000 members of a set or 10,000,000 elements of a
    /// list, and 75 MiB if the elements are not known; servers take half as long or twice as long. Scripts for valkey and
    /// redis-8.4 do not block.
    #[arg(long, help_heading = MOVES, value_name = "TIME", value_parser = duration, default_value = "100ms", hide_short_help = true)]
    pub max_block: Duration,
    /// Move slots with large keys too
    #[arg(long, help_heading = MOVES, hide_short_help = true)]
    pub move_big: bool,
    /// Bytes of one job of the script, as in redis.conf: 512mb; with valkey and redis-8.4 the node forks for each job
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "SIZE", default_value = "1gb", requires = "commands")]
    pub max_job_bytes: String,
    /// A script to review and run, in place of the text
    ///
    /// Run with --check it looks at the nodes, and moves nothing.
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "KIND", conflicts_with = "json")]
    pub commands: Option<MoveCommands>,
    /// A second script, which moves the slots back
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "FILE", requires = "commands")]
    pub rollback: Option<PathBuf>,
    /// Plan even if the dump looks incomplete
    ///
    /// Without it that is an error, exit code 2.
    #[arg(long, help_heading = MOVES)]
    pub force: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// Servers among the inputs
    #[command(flatten)]
    pub servers: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope plan dumps --topology cluster.nodes --by bytes
  slotscope plan redis://HOST:6379 --commands auto > moves.sh";

struct Prepared {
    commands: Option<MoveCommands>,
    flags: MoveFlags,
    input: Input,
    /// The nodes named by flags.
    named: Option<Topology>,
    /// How the inputs' servers were reached.
    tls: Option<TlsEntry>,
    /// The suggested fix if the managed service does not move slots.
    instead: Option<String>,
    /// Whether servers move slots as a whole.
    is_atomic: bool,
}

impl Run for PlanArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        self.flags(false)?;
        let guard = Guard::new("name another file with --rollback");
        let open = |path| SingleFile::open(path, "slotscope plan", guard);
        let rollback = self.rollback.as_deref().map(open).transpose()?;
        let prepared = self.prepared()?;
        if self.commands == Some(MoveCommands::Elasticache) {
            return self.print_shards(prepared);
        }
        let (commands, tls) = (prepared.commands, prepared.tls.clone());
        let (instead, is_atomic) = (prepared.instead.clone(), prepared.is_atomic);
        let outcome = self.planned(prepared)?;
        match commands {
            Some(commands) => {
                if outcome.moves.is_empty() {
                    // The script usually goes into a file.
                    say(&format!(
                        "{}; {}",
                        view::headline(&outcome),
                        view::basis(&outcome)
                    ));
                }
                let script = |is_rollback| Script {
                    commands,
                    outcome: &outcome,
                    is_rollback,
                    tls: tls.as_ref(),
                };
                script(false).check_addresses()?;
                if let Some(file) = rollback {
                    file.publish(|out| script(true).write(out))?;
                }
                print_lines(|out| script(false).write(out))
            }
            None => self.output.print(&outcome, Rows::or_json(view::ROWS), || {
                view::sections(&outcome, instead, is_atomic)
            }),
        }?;
        Ok(Ending::Done)
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }
}

impl PlanArgs {
    /// Prints slot ranges for as many shards as there are primaries, plus those to be added.
    fn print_shards(&self, prepared: Prepared) -> Result<Ending> {
        let Findings {
            topology, summary, ..
        } = self.findings(prepared.input, prepared.named)?;
        self.check_whole(&summary)?;
        let (count, metric) = prepared.flags.on(&topology)?.shards(&summary)?;
        let shards = Shards::of(&summary, count, metric).ok_or_else(|| {
            let reason = format!("there is nothing to spread over {count} shards");
            Error::bad("--commands elasticache", reason)
        })?;
        // The ranges usually go into a file.
        say(&shards.in_words());
        print_lines(|out| shards.write(out)).map(|()| Ending::Done)
    }

    /// The suggested fix if the managed service does not move slots; refuses scripts it cannot run.
    fn instead_of_moves(&self, named: Option<&Topology>) -> Result<Option<String>> {
        let service = match self.judging.service.service()? {
            None => named.and_then(Service::of),
            given => given,
        };
        let Some(service) = service.filter(|service| !service.is_self) else {
            return Ok(None);
        };
        let way_out = if service.has_ranges {
            "--commands elasticache prints ranges of slots for a backup to be restored"
        } else {
            "change the number of shards there, or split hash tags and keys: slotscope analyze shows which"
        };
        let of_service = |refusal: &str| format!("{refusal} on {}: {way_out}", service.title);
        let slots_stay = of_service("slots cannot be moved one by one");
        let refused = |reason| Err(Error::bad(self.flag_of_commands(), reason));
        match self.commands {
            None => Ok(Some(slots_stay)),
            Some(MoveCommands::Elasticache) if service.has_ranges => Ok(None),
            Some(MoveCommands::Elasticache) => {
                refused(of_service("ranges of slots cannot be chosen"))
            }
            Some(_) => refused(slots_stay),
        }
    }

    fn flag_of_commands(&self) -> String {
        let value = self
            .commands
            .as_ref()
            .and_then(ValueEnum::to_possible_value)
            .map_or_else(String::new, |value| format!(" {}", value.get_name()));
        format!("--commands{value}")
    }

    /// Refuses a dump that looks incomplete.
    fn check_whole(&self, summary: &Summary) -> Result<()> {
        // The slots missing from a sample may be the heaviest: no flag can justify a plan without them.
        let is_sample = summary.input.sample_percent.is_some();
        match incomplete(summary).filter(|_| !self.force || is_sample) {
            Some(why) => {
                let way_out = if is_sample {
                    "collect without --sample"
                } else {
                    "no plan is made for it, as --force would"
                };
                let reason = format!("{why}; {way_out}");
                Err(Error::bad("the dump does not look whole", reason))
            }
            None => Ok(()),
        }
    }

    /// Reads and plans without printing.
    ///
    /// # Errors
    /// As for `run`.
    pub fn outcome(&self) -> Result<PlanOutcome> {
        self.planned(self.prepared()?)
    }

    /// Checks that come before a possibly long scan.
    fn prepared(&self) -> Result<Prepared> {
        let named = self.cluster.named()?;
        let flags = InputFlags {
            reading: &self.reading,
            servers: &self.servers,
            hashing: Some(&self.hashing),
            refused: NOTHING,
        };
        let input = flags.find()?.read(self.reading.progress)?;
        let collections = input.keys.collections()?;
        let manifests = || collections.iter().map(|collection| &collection.manifest);
        let tls = manifests().find_map(|manifest| manifest.settings.tls.clone());
        let nodes = manifests().flat_map(|manifest| &manifest.nodes);
        let versions: Vec<_> = nodes.map(|node| node.server.as_deref()).collect();
        let commands = self.commands.map(|commands| commands.resolved(&versions));
        // Without a script, slots move as in the remedies of a report.
        let usual = || Migration::of(versions.iter().copied()).is_atomic();
        let is_atomic = commands.map_or_else(usual, MoveCommands::is_atomic);
        let flags = self.flags(is_atomic)?;
        let nodes = match &named {
            None => input.keys.nodes()?,
            named => named.clone(),
        };
        let instead = self.instead_of_moves(nodes.as_ref())?;
        let needs_addresses = self
            .commands
            .is_some_and(|commands| commands != MoveCommands::Elasticache);
        match &nodes {
            Some(topology) => drop(flags.clone().on(topology)?),
            None if needs_addresses => return Err(no_addresses()),
            None if input.keys.may_be_nodes() => {}
            None => return Err(no_nodes()),
        }
        Ok(Prepared {
            commands,
            flags,
            input,
            named,
            tls,
            instead,
            is_atomic,
        })
    }

    fn planned(&self, prepared: Prepared) -> Result<PlanOutcome> {
        let Findings {
            topology, summary, ..
        } = self.findings(prepared.input, prepared.named)?;
        let cluster = prepared.flags.on(&topology)?;
        self.check_whole(&summary)?;
        cluster.plan(&summary)
    }

    /// Counts the keys and judges the nodes, either `named` or from the inputs, as a report does.
    fn findings(&self, input: Input, named: Option<Topology>) -> Result<Findings> {
        let on_nodes = match named {
            Some(topology) => self.cluster.analysis(&topology),
            None => Analysis::new(),
        };
        let unjudged = on_nodes
            .segments(":", 0)
            .slot_stats_ops(self.reading.ops_column.as_deref());
        let analysis = self.judging.on(unjudged, self.add)?;
        let mut findings = input.keys.count(&analysis, |counted| counted.findings())?;
        let summary = &mut findings.summary;
        if summary.verdict.assumed {
            return Err(no_nodes());
        }
        if let Some(collected) = &input.collected {
            collected.rename(&mut summary.input, &mut summary.nodes.source);
        }
        Ok(findings)
    }

    /// The flags that change the request for moves; if servers migrate slots as a whole, no single key blocks.
    fn flags(&self, is_atomic: bool) -> Result<MoveFlags> {
        let is_no_tolerance = |percent: f64| !percent.is_finite() || percent < 0.0;
        if self.tolerance.is_some_and(is_no_tolerance) {
            return Err(Error::bad("--tolerance", "must be 0 or more, in percent"));
        }
        self.judging.by.metrics()?;
        Ok(MoveFlags {
            weights: node_weights(&self.judging.weight)?,
            add: self.add,
            remove: self.remove.clone(),
            exclude: self.excluded()?,
            limits: MoveLimits {
                slots: self.max_slots,
                bytes: self.max_bytes()?,
            },
            tolerance: self.tolerance.map(|percent| percent / 100.0),
            max_block: (!self.move_big && !is_atomic).then_some(self.max_block),
            force: self.force,
            job_bytes: self
                .commands
                .map(|_| memory_size("--max-job-bytes", &self.max_job_bytes))
                .transpose()?,
        })
    }

    fn excluded(&self) -> Result<Vec<(u16, u16)>> {
        let ranges = self.exclude.iter().map(|text| {
            slot_ranges(text).ok_or_else(|| {
                let place = format!("--exclude {}", Name::from(text.as_str()));
                Error::bad(
                    place,
                    "name slots from 0 to 16383 and ranges of them: 0-5,77",
                )
            })
        });
        Ok(ranges.collect::<Result<Vec<_>>>()?.concat())
    }

    fn max_bytes(&self) -> Result<Option<u64>> {
        let size = |text: &String| memory_size("--max-bytes", text);
        self.max_bytes.as_ref().map(size).transpose()
    }
}

fn no_nodes() -> Error {
    let reason = "say who owns which slot: --topology FILE, or --nodes N for an even split, as in slotscope plan dumps --topology \
        cluster.nodes; one file of each primary says it too";
    Error::bad("no nodes", reason)
}

fn no_addresses() -> Error {
    let reason = "moves need the addresses and ids of the nodes: --topology FILE";
    Error::bad("--commands", reason)
}
