//! The flags of `slotscope plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::analysis::beside::Beside;
use crate::analysis::reading::Reading;
use crate::analysis::{collected, collected_nodes, file_nodes, input_info, observed, slot_stats};
use crate::cli::by::weighed;
use crate::cli::printing::{OutputArgs, Rows, print_lines};
use crate::cli::reading::{ReadingArgs, print_format_help};
use crate::cli::service::ServiceArgs;
use crate::cli::values::{duration, memory_size, node_weights, slot_ranges};
use crate::cli::{Ending, say};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::name::Name;
use crate::plan::doubts::incomplete;
use crate::plan::inputs::PlannedNode;
use crate::plan::outcome::PlanOutcome;
use crate::plan::problem::MoveLimits;
use crate::plan::request::PlanRequest;
use crate::plan::script::{MoveCommands, Script};
use crate::plan::shards::Shards;
use crate::plan::view;
use crate::report::directory::{Guard, Mark, SingleFile};
use crate::spec::HashSpec;
use crate::spec::NodeSpec;
use crate::spec::headings::{MOVES, OUTPUT};
use crate::steps::Service;
use crate::summary;
use crate::summary::Summary;
use crate::summary::observed::Observed;
use crate::summary::role_load::Asked;
use crate::tally::slots_by_input::SlotsByInput;
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;

/// What the file of `--rollback` may replace.
const GUARD: Guard = Guard {
    mark: Mark {
        file: None,
        text: "slotscope plan",
    },
    read: Vec::new(),
    force: false,
    way_out: "name another file with --rollback",
    or_force: "",
};

/// Which slots to move where.
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
    /// Who runs the servers
    #[command(flatten)]
    pub service: ServiceArgs,
    /// What is evened out: keys, bytes, ops, accesses or bytes=2,ops=1
    ///
    /// Without it what the report finds uneven, memory first; where it finds nothing, memory (bytes where 99% of the keys
    /// have a size, else keys), then operations from 10,000 a node on. Of several metrics the one with most weight comes
    /// first, and a later one never costs an earlier one its target. Memory or load that is not named may not get worse.
    #[arg(long, help_heading = MOVES, value_name = "METRICS")]
    pub by: Option<String>,
    /// Relative capacity of a node, 1 where it is not said
    ///
    /// The node by hostname, address or id, or the start of one (of nodes to be added new-1, new-2 ...). May be repeated.
    #[arg(long, help_heading = MOVES, value_name = "ID=W", hide_short_help = true)]
    pub weight: Vec<String>,
    /// Empty primaries that will be added: new-1, new-2 ...
    #[arg(long, help_heading = MOVES, value_name = "N", default_value_t = 0)]
    pub add: usize,
    /// A primary to be emptied; may be repeated
    ///
    /// By hostname, address or id, or the start of one.
    #[arg(long, help_heading = MOVES, value_name = "ID")]
    pub remove: Vec<String>,
    /// Move at most so many slots
    #[arg(long, help_heading = MOVES, value_name = "N")]
    pub max_slots: Option<u64>,
    /// Move at most so much, as in redis.conf: 4gb, 512mb
    #[arg(long, help_heading = MOVES, value_name = "SIZE")]
    pub max_bytes: Option<String>,
    /// Slots that stay where they are: 0-5,77
    #[arg(long, help_heading = MOVES, value_name = "SLOTS", hide_short_help = true)]
    pub exclude: Vec<String>,
    /// How far above its fair share a node may stay; 3 for memory, 10 for load
    ///
    /// Or above its heaviest slot, where that is more than its share. It is that of the first metric of --by.
    #[arg(long, help_heading = MOVES, value_name = "PERCENT")]
    pub tolerance: Option<f64>,
    /// Bytes that a node may use, as in redis.conf: 4gb; nodes are filled to 90%
    #[arg(long, help_heading = MOVES, value_name = "SIZE")]
    pub maxmemory: Option<String>,
    /// Leave slots where they are whose largest key would block a node for longer: 100ms, 2s
    ///
    /// MIGRATE copies a key in one piece: 100 MiB or 200,000 elements a second, 25 MiB a second where the elements are not
    /// known. Scripts for valkey and redis-8.4 move slots without that.
    #[arg(long, help_heading = MOVES, value_name = "TIME", value_parser = duration, default_value = "100ms", hide_short_help = true)]
    pub max_block: Duration,
    /// Move slots with large keys too
    #[arg(long, help_heading = MOVES, hide_short_help = true)]
    pub move_big: bool,
    /// Bytes of one job of the script, as in redis.conf: 512mb; with valkey and redis-8.4 the node forks for each job
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "SIZE", default_value = "1gb", requires = "commands")]
    pub max_job_bytes: String,
    /// A script to review and run, in place of the text
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "KIND", conflicts_with_all = ["json", "output"])]
    pub commands: Option<MoveCommands>,
    /// A second script, which takes the moves of the first one back
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", requires = "commands")]
    pub rollback: Option<PathBuf>,
    /// Let the script wait after each slot (or each range, of valkey and redis-8.4)
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "N", default_value_t = 0, requires = "commands")]
    pub pause_ms: u64,
    /// Let the script stop after so many minutes, between two slots; run again, it goes on
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, value_name = "N", default_value_t = 0, requires = "commands")]
    pub max_minutes: u64,
    /// Plan with a dump that does not look whole
    ///
    /// Without it that is an error, exit code 2.
    #[arg(long, help_heading = MOVES)]
    pub force: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope plan dumps --topology cluster.nodes --by bytes
  slotscope plan dumps --topology cluster.nodes --commands auto > moves.sh";

/// What a plan is made of.
struct Prepared {
    commands: Option<MoveCommands>,
    request: PlanRequest,
    reading: Reading,
    named: Option<Topology>,
}

impl PlanArgs {
    /// Reads, plans and prints.
    ///
    /// # Errors
    /// An input, a topology or a flag that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            return print_format_help();
        }
        let prepared = self.prepared()?;
        if self.commands == Some(MoveCommands::Elasticache) {
            return self.print_shards(prepared);
        }
        let open = |path| SingleFile::open(path, GUARD);
        let rollback = self.rollback.as_deref().map(open).transpose()?;
        let commands = prepared.commands;
        let (nodes, outcome) = self.planned(prepared)?;

        match commands {
            Some(commands) => {
                if outcome.moves.is_empty() {
                    // The script mostly goes into a file.
                    say(&format!(
                        "{}; {}",
                        view::headline(&outcome),
                        view::basis(&outcome)
                    ));
                }
                let script = |is_rollback| Script {
                    commands,
                    outcome: &outcome,
                    nodes: &nodes,
                    is_rollback,
                    pause_ms: self.pause_ms,
                    max_minutes: self.max_minutes,
                };
                if let Some(file) = rollback {
                    file.publish(|out| script(true).write(out))?;
                }
                print_lines(|out| script(false).write(out))
            }
            None => self.output.print(&outcome, Rows::or_json(view::ROWS), || {
                view::sections(&outcome)
            }),
        }?;
        Ok(Ending::Done)
    }

    /// Prints ranges of slots for as many shards as there are primaries, and those to be added.
    fn print_shards(&self, prepared: Prepared) -> Result<Ending> {
        let asked = prepared.request.by.first().map(|(metric, _)| *metric);
        let (_, summary) = self.summarise(prepared.reading, prepared.named)?;
        self.check_whole(&summary)?;
        let count = summary.nodes.owning().count() + self.add;
        let shards = Shards::of(&summary, count, asked).ok_or_else(|| {
            let what = format!("there is nothing to spread over {count} shards");
            Error::bad("--commands elasticache", what)
        })?;
        // The ranges mostly go into a file.
        say(&shards.in_words());
        print_lines(|out| shards.write(out)).map(|()| Ending::Done)
    }

    /// Refuses scripts for servers of a service that does not carry them out.
    fn check_service(&self, named: Option<&Topology>) -> Result<()> {
        let service = match self.service.service()? {
            None => named.and_then(Service::of),
            given => given,
        };
        let Some(service) = service.filter(|service| !service.is_self) else {
            return Ok(());
        };
        let way_out = if service.has_ranges {
            "--commands elasticache prints ranges of slots for a backup to be restored"
        } else {
            "change the number of shards there, or split hash tags and keys: slotscope analyze shows which"
        };
        let of_service = |what: &str| {
            let what = format!("{what} on {}: {way_out}", service.title);
            Err(Error::bad(self.flag_of_commands(), what))
        };
        match self.commands {
            None => Ok(()),
            Some(MoveCommands::Elasticache) if service.has_ranges => Ok(()),
            Some(MoveCommands::Elasticache) => of_service("ranges of slots cannot be chosen"),
            Some(_) => of_service("slots cannot be moved one by one"),
        }
    }

    fn flag_of_commands(&self) -> String {
        let value = self
            .commands
            .as_ref()
            .and_then(ValueEnum::to_possible_value);
        let value = value.map_or_else(String::new, |value| format!(" {}", value.get_name()));
        format!("--commands{value}")
    }

    /// Refuses a dump that does not look whole.
    fn check_whole(&self, summary: &Summary) -> Result<()> {
        match incomplete(summary).filter(|_| !self.force) {
            Some(why) => {
                let what = format!("{why}; no plan is made for it, as --force would");
                Err(Error::bad("the dump does not look whole", what))
            }
            None => Ok(()),
        }
    }

    /// Reads and plans; there is no output.
    ///
    /// # Errors
    /// As `run`.
    pub fn outcome(&self) -> Result<PlanOutcome> {
        let (_, outcome) = self.planned(self.prepared()?)?;
        Ok(outcome)
    }

    /// What is checked before the scan, which may take long.
    fn prepared(&self) -> Result<Prepared> {
        self.request(None)?;
        let mut reading = self.reading.reading(self.hashing.policy()?)?;
        let nodes = reading.collections.iter().flat_map(|of| &of.manifest.nodes);
        let versions: Vec<_> = nodes.map(|node| node.server.as_deref()).collect();
        let commands = self.commands.map(|commands| commands.resolved(&versions));
        let request = self.request(commands)?;
        let named = match self.cluster.named()? {
            None => collected_nodes::topology(&reading.collections)?,
            named => named,
        };
        self.check_service(named.as_ref())?;
        let needs_addresses = self
            .commands
            .is_some_and(|commands| commands != MoveCommands::Elasticache);
        match &named {
            Some(topology) => drop(request.clone().on(topology)?),
            None if needs_addresses => return Err(no_addresses()),
            None if self.reading.may_be_several() => {}
            None => return Err(no_nodes()),
        }
        let replicas = named.iter().flat_map(|topology| &topology.replicas);
        reading.options.only.not_of = replicas.cloned().collect();
        Ok(Prepared {
            commands,
            request,
            reading,
            named,
        })
    }

    /// The nodes, and the plan.
    fn planned(&self, prepared: Prepared) -> Result<(Vec<PlannedNode>, PlanOutcome)> {
        let (topology, summary) = self.summarise(prepared.reading, prepared.named)?;
        let planner = prepared.request.on(&topology)?;
        self.check_whole(&summary)?;
        let outcome = planner.plan(&summary)?;
        Ok((planner.nodes, outcome))
    }

    /// What the flags ask for.
    fn request(&self, commands: Option<MoveCommands>) -> Result<PlanRequest> {
        let is_no_tolerance = |percent: f64| !percent.is_finite() || percent < 0.0;
        if self.tolerance.is_some_and(is_no_tolerance) {
            return Err(Error::bad("--tolerance", "must be 0 or more, in percent"));
        }
        let size = |text: &String| memory_size("--maxmemory", text);
        Ok(PlanRequest {
            by: self.metrics()?,
            weights: node_weights(&self.weight)?,
            add: self.add,
            remove: self.remove.clone(),
            exclude: self.excluded()?,
            limits: MoveLimits {
                slots: self.max_slots,
                bytes: self.max_bytes()?,
            },
            tolerance: self.tolerance.map(|percent| percent / 100.0),
            maxmemory: self.maxmemory.as_ref().map(size).transpose()?,
            // Servers that move slots as a whole block for no single key.
            max_block: (!self.move_big && !commands.is_some_and(MoveCommands::is_atomic))
                .then_some(self.max_block),
            job_bytes: commands
                .map(|_| memory_size("--max-job-bytes", &self.max_job_bytes))
                .transpose()?,
        })
    }

    /// The metrics and their weights; none where they are left to the input.
    fn metrics(&self) -> Result<Vec<(Metric, f64)>> {
        self.by.as_deref().map_or_else(|| Ok(Vec::new()), weighed)
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

    /// Counts the keys of the nodes that are `named`, or of those that the inputs are. Tags are counted by name in the one
    /// pass: they only name what sets the lower bound.
    fn summarise(
        &self,
        mut reading: Reading,
        named: Option<Topology>,
    ) -> Result<(Topology, Summary)> {
        let ops = self.reading.ops_column.as_deref();
        let beside = Beside::take_from(&mut reading)?;
        let inputs = reading.sources.len();
        let mut scanned = match slot_stats::take(&reading.sources, ops)? {
            Some(taken) => taken.scanned,
            None => reading.scan("counting", || Tallies {
                inputs: SlotsByInput::new(inputs),
                ..Tallies::new(Parts::InOnePass)
            })?,
        };
        beside.add_to(&mut scanned, &mut reading, ops)?;
        let of_files = || file_nodes::of(reading.paths(), &scanned, &scanned.tally.inputs);
        let (topology, files, overlap) = match named {
            Some(topology) => (topology, Vec::new(), None),
            None => of_files()
                .map(|found| (found.topology, found.files, found.overlap))
                .ok_or_else(no_nodes)?,
        };
        let mut input = input_info::of(&reading.sources, &scanned);
        collected::remark(&reading.collections, None, &mut input);
        file_nodes::note_overlap(overlap.as_ref(), &mut input);
        let observed = observed::servers(&reading.collections, &scanned, &topology, &files);
        let observed = Observed {
            servers: observed,
            cluster_state: observed::cluster_state(&reading.collections),
            ..Observed::default()
        };
        let mut summary = summary::summarise(
            &scanned.tally,
            None,
            &topology,
            &observed,
            &Asked::default(),
            input,
        );
        file_nodes::warn_of_several(&files, &mut summary);
        Ok((topology, summary))
    }
}

fn no_nodes() -> Error {
    let what = "say who owns which slot: --topology FILE, or --nodes N for an even split; one file of each primary says it \
        too";
    Error::bad("no nodes", what)
}

fn no_addresses() -> Error {
    let what = "moves need the addresses and ids of the nodes: --topology FILE";
    Error::bad("--commands", what)
}
