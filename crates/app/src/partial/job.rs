//! Counts splits of a plan: the work that any process may do.

use slotscope_base::error::{Error, Result};
use slotscope_count::scan::Incomplete;
use slotscope_count::scan::shares::Share;
use slotscope_count::tally::rejects::Rejects;
use slotscope_read::source::{Found, Source};

use crate::partial::input::Input;
use crate::partial::plan::Plan;
use crate::partial::recount_file::RecountFile;
use crate::partial::split::{Part, Split};
use crate::partial::tally_file::TallyFile;
use crate::pipeline::reading::{Options, Reading};
use crate::pipeline::rejected;
use crate::pipeline::two_pass::SecondPass;

/// Splits with their sources.
pub struct Job<'p> {
    plan: &'p Plan,
    splits: Vec<Split>,
    shares: Vec<Share>,
    reading: Reading,
}

impl<'p> Job<'p> {
    /// Opens the inputs of `splits` by their names.
    ///
    /// # Errors
    /// An input differs from the plan.
    #[doc(hidden)]
    pub fn new(plan: &'p Plan, splits: &[Split], options: &Options) -> Result<Self> {
        Job::on(plan, splits, options, |_, input| {
            input.source(&options.storage)
        })
    }

    /// Like `new`, with sources that `open` returns by input number.
    ///
    /// # Errors
    /// As for `new` and `open`.
    pub fn on(
        plan: &'p Plan,
        splits: &[Split],
        options: &Options,
        mut open: impl FnMut(usize, &Input) -> Result<Box<dyn Source>>,
    ) -> Result<Self> {
        let (mut sources, mut shares) = (Vec::new(), Vec::new());
        for split in splits {
            let number = split.input as usize;
            let fits = |input: &&Input| split.from < split.to && split.to <= input.chunks;
            let planned = plan.inputs.get(number).filter(fits);
            let input = planned.ok_or_else(|| Error::bad("a split", "it is of another plan"))?;
            let source = open(number, input)?;
            input.check(&*source)?;
            sources.push(source);
            shares.push(split.share(input));
        }
        let inputs = Found {
            sources,
            ..Found::default()
        };
        Ok(Job {
            plan,
            splits: splits.to_vec(),
            shares,
            reading: Reading::new(inputs, plan.flags.options(options)?)?,
        })
    }

    /// Counts the splits; with `part`, they are all of that part.
    ///
    /// # Errors
    /// As for a scan; with `strict`, a rejected row.
    pub fn tally(self, part: Option<Part>) -> Result<TallyFile> {
        let empty = self.plan.empty()?;
        let sources = &self.reading.sources;
        let scanned = self.reading.with_scan("counting", |scan| {
            let scan = scan.clone().chunk(self.plan.chunk as usize);
            scan.run_shares(sources, &self.shares, || empty.clone())
        })?;
        if self.reading.options.strict {
            self.check_strict(&scanned.rejects)?;
        }
        TallyFile::of(self.plan.clone(), part, &self.splits, scanned)
    }

    /// Recounts the names requested by `tallies`.
    ///
    /// # Errors
    /// As for a scan; no names need recounting.
    pub fn recount(self, tallies: TallyFile, part: Option<Part>) -> Result<RecountFile> {
        tallies.check_whole()?;
        let digest = tallies.digest();
        let known = self.known(&tallies);
        let wanted = SecondPass::of(&tallies.tallies).ok_or_else(|| {
            let reason = "all names are counted already; name the tally file to slotscope analyze";
            Error::bad("nothing to recount", reason)
        })?;
        let sources = &self.reading.sources;
        let again = self.reading.with_scan("recounting names", |scan| {
            let scan = scan.clone().chunk(self.plan.chunk as usize);
            wanted.run_shares(&scan, sources, &self.shares, &known)
        })?;
        RecountFile::of(digest, self.plan, part, &self.splits, again.into_counted())
    }

    /// Where the first pass could not read further, relative to the splits.
    fn known(&self, tallies: &TallyFile) -> Vec<Incomplete> {
        let splits = self.splits.iter().enumerate();
        let of_split = |(at, split): (usize, &Split)| {
            let stops = tallies.incomplete.iter();
            let of_input = stops.filter(|stop| stop.input == split.input as usize);
            let numbered = of_input.map(|stop| Incomplete {
                input: at,
                ..stop.clone()
            });
            numbered.collect::<Vec<_>>()
        };
        splits.flat_map(of_split).collect()
    }

    fn check_strict(&self, rejects: &Rejects) -> Result<()> {
        let source = |number: u32| {
            let at = self.splits.iter().position(|split| split.input == number);
            &*self.reading.sources[at.unwrap_or(0)]
        };
        rejected::check_strict_of(source, rejects)
    }
}
