//! Counted inputs, from this process or others: findings are computed from these values without the inputs.

use slotscope_base::error::{Error, Result};
use slotscope_count::scan::{Scan, Scanned};
use slotscope_count::tally::Tallies;
use slotscope_count::tally::tag_table::MAX_TAGS;
use slotscope_topology::Topology;

use crate::options::counting::CountSpec;
use crate::pipeline::beside::Beside;
use crate::pipeline::counters::Counters;
use crate::pipeline::in_table::InTable;
use crate::pipeline::inputs::Inputs;
use crate::pipeline::reading::Reading;
use crate::pipeline::run_info::Started;
use crate::pipeline::tally_spec::TallySpec;
use crate::pipeline::two_pass::{Counted, SecondPass};
use crate::pipeline::{Analysis, Nodes, collected_nodes, slot_stats};

/// The counts of inputs, and the analysis they are for.
pub struct CountedInputs {
    /// With the nodes listed by the inputs, if the user named none.
    pub(super) analysis: Analysis,
    /// Facts about the inputs besides the counts.
    pub inputs: Inputs,
    /// The counts.
    pub counted: Counted,
    /// The nodes, if known without the counts.
    pub(super) topology: Topology,
    pub(super) started: Started,
}

impl CountedInputs {
    /// Counts of other processes, for this analysis.
    ///
    /// # Errors
    /// The nodes are unusable.
    pub(crate) fn of_others(analysis: Analysis, inputs: Inputs, counted: Counted) -> Result<Self> {
        Ok(CountedInputs {
            topology: analysis.first_owners(inputs.files.len())?,
            analysis,
            inputs,
            counted,
            started: Started::now(),
        })
    }
}

impl Analysis {
    /// Reads and counts sources already found, without judging.
    ///
    /// # Errors
    /// As for `run`.
    pub(crate) fn count(&self, mut reading: Reading) -> Result<CountedInputs> {
        let started = Started::now();
        let analysis = self.on_nodes_in(&reading)?;
        let topology = analysis.first_owners(reading.sources.len())?;
        let beside = Beside::take_from(&mut reading)?;
        let (mut counted, counters) = analysis.count_keys(&reading, &topology)?;
        let ops = analysis.ops_column.as_deref();
        let of_others = beside.add_to(&mut counted.first, &mut reading, ops)?;
        let inputs = Inputs {
            counters: counters.or(of_others),
            ..Inputs::of(&reading, &counted.first)
        };
        Ok(CountedInputs {
            analysis,
            inputs,
            counted,
            topology,
            started,
        })
    }

    /// The analysis with the nodes from a collection or a file next to the dumps, if the user named none.
    fn on_nodes_in(&self, reading: &Reading) -> Result<Analysis> {
        let listed = match self.nodes {
            Nodes::Assumed => collected_nodes::beside(reading)?,
            _ => None,
        };
        Ok(Analysis {
            nodes: listed.map_or_else(|| self.nodes.clone(), Nodes::OfInput),
            ..self.clone()
        })
    }

    /// Counts all keys, or takes the counts of servers.
    #[doc(hidden)]
    pub fn count_keys(
        &self,
        reading: &Reading,
        topology: &Topology,
    ) -> Result<(Counted, Option<Counters>)> {
        if let Some(taken) = slot_stats::take(&reading.sources, self.ops_column.as_deref())? {
            if !reading.options.policy.is_oss() {
                let reason =
                    "CLUSTER SLOT-STATS has slots as the server hashed them; leave --policy out";
                return Err(Error::option("policy", "", reason));
            }
            if let Some(filter) = &reading.options.only.filter {
                let reason =
                    "counts by slot have no keys to choose from; leave it out, or name a key dump";
                return Err(Error::bad(filter.said(false), reason));
            }
            return Ok((Counted::of(taken.scanned, None), Some(taken.counters)));
        }
        let (first, passes) = self.first_pass(reading, topology)?;
        let again = SecondPass::of(&first.tally)
            .map(|again| {
                reading.with_scan("recounting names", |scan| {
                    again.run(scan, &reading.sources, &first.incomplete)
                })
            })
            .transpose()?;
        Ok((Counted::of(first, again).after(passes), None))
    }

    /// The first-pass counts, and the number of passes made only for names.
    fn first_pass(
        &self,
        reading: &Reading,
        topology: &Topology,
    ) -> Result<(Scanned<Tallies>, u32)> {
        let counting = CountSpec {
            one_pass: self.counting.one_pass || !reading.is_rereadable(),
            ..self.counting.clone()
        };
        let spec = TallySpec {
            counting: &counting,
            listing: self.nodes.listed().map(|_| topology),
            seeks_nodes: matches!(self.nodes, Nodes::Assumed | Nodes::Listed(_)),
        };
        if let Some(counted) = self.in_table(reading, &spec)? {
            return Ok(counted);
        }
        let empty = spec.empty(reading.sources.len());
        Ok((reading.scan("counting", || empty.clone())?, 0))
    }

    /// Counts every hash tag in one table, if possible.
    fn in_table(
        &self,
        reading: &Reading,
        spec: &TallySpec<'_>,
    ) -> Result<Option<(Scanned<Tallies>, u32)>> {
        let sources = &reading.sources;
        let counting = spec.counting;
        if counting.slots_only() || counting.one_pass && !reading.is_in_blocks()? {
            return Ok(None);
        }
        let make = || spec.empty(sources.len());
        let most_tags = self.most_tags.unwrap_or(MAX_TAGS);
        let count = |scan: &Scan<'_>| InTable::count(scan, sources, most_tags, make);
        let Some(mut counted) = reading.with_scan("counting", count)? else {
            return Ok(None);
        };
        reading.check(&counted.counted)?;
        reading.check_left(&counted.counted)?;
        if counted.lacks_names() {
            let read = |scan: &Scan<'_>| counted.read_names(scan, sources);
            counted = reading.with_scan("recounting names", read)?;
        }
        counted.finish(sources).map(Some)
    }
}
