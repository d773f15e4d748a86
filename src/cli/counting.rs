//! Flags that say what is counted, of one process or in parts.

use clap::{Args, ValueEnum};

use crate::cli::cluster::ListingArgs;
use crate::cli::hashing::HashingArgs;
use crate::cli::headings::COUNTING;
use crate::cli::reading::ReadingArgs;
use crate::error::Result;
use crate::partial::Flags;

/// What is counted besides slots.
#[derive(Args, Debug)]
#[command(next_help_heading = COUNTING)]
pub struct CountingArgs {
    /// The separator between the segments of a key
    #[arg(
        long,
        value_name = "STR",
        default_value = ":",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub separator: String,
    /// Levels of prefixes; 0: no prefixes and no patterns, which is faster
    #[arg(long, value_name = "N", default_value_t = 4, hide_short_help = true)]
    pub depth: usize,
    /// Only this part: the fastest, without tags
    ///
    /// Tags are the usual cause of a skew, so a report without them seldom says why.
    #[arg(long, value_enum, value_name = "PART")]
    pub only: Option<Part>,
    /// Never read a file twice: past 65,536 distinct tags their counts come with bounds
    #[arg(long, hide_short_help = true)]
    pub one_pass: bool,
}

/// A part of the analysis.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Slots, nodes and their balance
    Slots,
}

impl CountingArgs {
    /// Whether nothing but slots is counted.
    pub fn slots_only(&self) -> bool {
        self.only == Some(Part::Slots)
    }

    /// All that decides what is counted, for a plan of parts.
    ///
    /// # Errors
    /// A file or a value that cannot be used.
    pub fn flags(
        &self,
        reading: &ReadingArgs,
        cluster: &ListingArgs,
        hashing: &HashingArgs,
    ) -> Result<Flags> {
        Ok(Flags {
            policy: hashing.policy.clone(),
            separator: self.separator.clone(),
            patterns: self.depth > 0,
            slots_only: self.slots_only(),
            one_pass: self.one_pass,
            listing: cluster.listing()?,
            words: [reading.words(None), hashing.words()].concat(),
            ..reading.flags()?
        })
    }
}
