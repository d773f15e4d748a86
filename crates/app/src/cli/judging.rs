//! How nodes are judged: flags shared by `analyze` and the `plan` commands in its steps, so that both agree.

use clap::Args;
use serde::Serialize;

use slotscope_base::error::Result;

use crate::cli::by::ByArgs;
use crate::cli::capacity_args::CapacityArgs;
use crate::cli::service::ServiceArgs;
use crate::cli::values::node_weights;
use crate::options::headings::CLUSTER;
use crate::options::words;
use crate::pipeline::Analysis;

/// How nodes are judged.
#[derive(Args, Debug, Clone, Default, PartialEq, Serialize)]
pub struct JudgeArgs {
    /// What load is
    #[command(flatten)]
    #[serde(flatten)]
    pub by: ByArgs,
    /// Relative capacity of a node; 1 if not given
    ///
    /// The node by hostname, address or id, or the start of one; nodes that plan adds are new-1, new-2 ... May be repeated.
    /// Without it, memory is weighed by the nodes' maxmemory if these differ.
    #[arg(long, value_name = "ID=W", help_heading = CLUSTER, hide_short_help = true)]
    pub weight: Vec<String>,
    /// Who runs the servers
    #[command(flatten)]
    #[serde(flatten)]
    pub service: ServiceArgs,
    /// How much room the nodes have
    #[command(flatten)]
    #[serde(flatten)]
    pub room: CapacityArgs,
}

impl JudgeArgs {
    /// The analysis with these flags. `added` nodes do not exist yet; weights for them are left to the plan.
    ///
    /// # Errors
    /// A flag cannot be parsed.
    pub fn on(&self, analysis: Analysis, added: usize) -> Result<Analysis> {
        let room = self.room.clone();
        let mut weights = node_weights(&self.weight)?;
        weights.retain(|(name, _)| !(1..=added).any(|new| *name == format!("new-{new}")));
        Ok(analysis
            .by(self.by.metrics()?)
            .weights(weights)
            .service(self.service.service()?)
            .room_on(move |topology| room.room(topology))
            .judging_words(words(self)))
    }

    /// A copy without node names.
    pub fn nameless(&self) -> JudgeArgs {
        JudgeArgs {
            weight: Vec::new(),
            room: CapacityArgs {
                used_memory: Vec::new(),
                ..self.room.clone()
            },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        judging: JudgeArgs,
    }

    #[test]
    fn every_flag_that_is_given_is_a_word_of_the_printed_command() {
        let args = JudgeArgs {
            by: ByArgs {
                by: Some("bytes,ops".into()),
            },
            weight: vec!["a=2".into(), "b=1".into()],
            service: ServiceArgs {
                service: Some("self".into()),
            },
            room: CapacityArgs {
                maxmemory: Some("1gb".into()),
                growth: Some(8.0),
                used_memory: vec!["a=1gb".into()],
            },
        };
        let given = words(&args);
        assert_eq!(
            given.join(" "),
            "--by bytes,ops --weight a=2 --weight b=1 --service self --maxmemory 1gb --growth 8.0 --used-memory a=1gb"
        );
        let line = std::iter::once("slotscope").chain(given.iter().map(String::as_str));
        assert_eq!(Words::parse_from(line).judging, args);
        assert_eq!(words(&JudgeArgs::default()), Vec::<String>::new());
    }
}
