//! The flags of `slotscope timeline INPUT...`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::analysis::reading::Reading;
use crate::cli::Ending;
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::reading::{ReadingArgs, print_format_help};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::redact::Redaction;
use crate::report::directory::{Directory, Guard, Mark, Written};
use crate::report::json;
use crate::report::render::html::sections;
use crate::report::view::Heat;
use crate::source::identity::Identity;
use crate::spec::HashSpec;
use crate::spec::NodeSpec;
use crate::spec::headings::{COUNTING, OUTPUT};
use crate::timeline::{self, Timeline, view};

/// What is written with `--out`.
const JSON_FILE: &str = "timeline.json";
const PAGE_FILE: &str = "timeline.html";
const CHART: &str = "timeline.png";
const NODES_CHART: &str = "nodes-over-time.png";
const FILES: &[&str] = &[
    // Shows whose the directory is, so it comes first.
    JSON_FILE,
    PAGE_FILE,
    CHART,
    NODES_CHART,
];
/// What shows a directory that `collect` wrote, and the counts over time in it.
const COLLECTED: &str = "collect.json";
const SERIES: &str = "slot-stats.json";
const MARK: Mark = Mark {
    file: Some(JSON_FILE),
    text: "\"schema\":\"slotscope.timeline/",
};

/// Operations of captures, or CPU time and network traffic, over time and slots, and bursts.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TimelineArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
    /// Tags and patterns that are followed, bursts that are shown
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub top: u16,
    /// What is counted [default: ops of captures, cpu of CLUSTER SLOT-STATS]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = COUNTING)]
    pub by: Option<Heat>,
    /// Hashes in place of names, in every output
    ///
    /// Names of keys, tags, patterns, files and nodes are replaced by keyed hashes; slots and numbers stay true. The key is
    /// SLOTSCOPE_REDACT_KEY, else random.
    #[arg(long, help_heading = OUTPUT)]
    pub redact: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// Also write timeline.json, timeline.html, timeline.png and nodes-over-time.png here
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Example:
  timeout 30 redis-cli -h HOST -p PORT MONITOR > HOST-PORT.monitor
  slotscope timeline *.monitor --topology cluster.nodes --out hot";

impl TimelineArgs {
    /// Reads, counts and prints.
    ///
    /// # Errors
    /// An input, a flag or an output that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            return print_format_help();
        }
        let redaction = self.redact.then(Redaction::from_environment).transpose()?;
        let redaction = redaction.as_ref();
        self.timeline(redaction).map_err(|error| match redaction {
            Some(redaction) => redaction.error(error),
            None => error,
        })
    }

    fn timeline(&self, redaction: Option<&Redaction>) -> Result<Ending> {
        let top = usize::from(self.top);
        let options = timeline::Options {
            by: self.by,
            topology: self.cluster.named()?,
            top,
            redaction,
        };
        let reading = self.inputs()?.reading(self.hashing.policy()?)?;
        let directory = self.out.as_deref();
        let directory = directory.map(|path| open(path, &reading)).transpose()?;
        let timeline = timeline::read(&reading, &options)?;
        let printed = self.output.print(&timeline, Rows::or_json(top), || {
            view::sections(&timeline, top)
        });
        if let Some(directory) = directory {
            directory.publish(|name, out| self.write(&timeline, name, out))?;
        }
        printed?;
        Ok(Ending::of(&timeline.incomplete))
    }

    /// What is read: of a directory that `collect` wrote, the counts over time.
    fn inputs(&self) -> Result<ReadingArgs> {
        let mut reading = self.reading.clone();
        for input in &mut reading.inputs {
            if !input.join(COLLECTED).is_file() {
                continue;
            }
            let series = input.join(SERIES);
            if !series.is_file() {
                let what = format!(
                    "no {SERIES}: collect with --every 10s --for 10m to have counts over time"
                );
                return Err(Error::bad(Name::from(input.as_path()).to_string(), what));
            }
            *input = series;
        }
        Ok(reading)
    }

    fn write(&self, timeline: &Timeline, name: &str, out: &mut dyn Write) -> io::Result<Written> {
        match name {
            JSON_FILE => json::write_object(timeline, out)?,
            PAGE_FILE => {
                let frame = sections::Frame {
                    title: &view::title(timeline),
                    sentence: &view::sentence(timeline),
                    notes: &view::remarks_of(timeline),
                    rows: usize::from(self.top),
                };
                sections::write(&frame, &view::sections(timeline, usize::MAX), out)?;
            }
            NODES_CHART => return chart::write_nodes(timeline, out),
            _ => return chart::write(timeline, out),
        }
        Ok(Written::Whole)
    }
}

fn open(path: &Path, reading: &Reading) -> Result<Directory> {
    let inputs = reading.sources.iter();
    let guard = Guard {
        mark: MARK,
        read: inputs
            .filter_map(|input| Identity::of(input.path()))
            .collect(),
        force: false,
        way_out: "name another directory with --out",
        or_force: "",
    };
    Directory::open(path, FILES, guard)
}

#[cfg(feature = "charts")]
mod chart {
    use std::io::{self, Write};

    use crate::report::charts::nodes_over_time::{self, NodeRates};
    use crate::report::charts::time_map;
    use crate::report::directory::Written;
    use crate::timeline::{NodeOverTime, Timeline, view};

    /// The map.
    pub fn write(timeline: &Timeline, out: &mut dyn Write) -> io::Result<Written> {
        let (title, subtitle) = (view::chart_title(timeline), view::title(timeline));
        time_map::write(&title, &subtitle, &view::time_map(timeline), out).map(|()| Written::Whole)
    }

    /// The nodes over time, where there are several.
    pub fn write_nodes(timeline: &Timeline, out: &mut dyn Write) -> io::Result<Written> {
        let nodes = timeline.nodes.as_deref().unwrap_or_default();
        if nodes.len() < 2 {
            return Ok(Written::Nothing);
        }
        let shared = view::shared_parts(timeline);
        let node = |node: &NodeOverTime| {
            let label = shared.label(&node.name);
            (label.to_string(), node.over_time.clone())
        };
        let rates = NodeRates {
            heat: timeline.by,
            from: timeline.buckets.first().map_or(0, |bucket| bucket.from),
            bucket_secs: timeline.bucket_secs,
            nodes: nodes.iter().map(node).collect(),
        };
        nodes_over_time::write(&view::title(timeline), &rates, out).map(|()| Written::Whole)
    }
}

/// No chart without the feature.
#[cfg(not(feature = "charts"))]
mod chart {
    use std::io::{self, Write};

    use crate::report::directory::Written;
    use crate::timeline::Timeline;

    pub fn write(_: &Timeline, _: &mut dyn Write) -> io::Result<Written> {
        Ok(Written::Nothing)
    }

    pub fn write_nodes(_: &Timeline, _: &mut dyn Write) -> io::Result<Written> {
        Ok(Written::Nothing)
    }
}
