//! The flags that say how RDB files are read.

use clap::{Args, ValueEnum};

use crate::cli::headings::RDB_FILES;
use crate::format::lfu::LfuRule;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::walk::{Sizes, Walking};

/// How RDB files are read.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = RDB_FILES)]
pub struct WalkingArgs {
    /// What the sizes of keys are
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t,
        hide_short_help = true
    )]
    pub size: Size,
    /// What memory is estimated for, and whether bytes are verified
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u64).range(..=MOST_LFU))]
    pub lfu_log_factor: Option<u64>,
    /// The server's lfu-decay-time, in minutes [default: 1]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=MOST_LFU))]
    pub lfu_decay_time: Option<u64>,
}

/// More than any server is set to.
const MOST_LFU: u64 = 1_000_000;

/// What memory is estimated for, and whether bytes are verified.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = RDB_FILES)]
pub struct MemoryArgs {
    /// The allocator of the server, for estimated sizes in memory: INFO memory names it, distributions have their own
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        default_value_t,
        hide_short_help = true
    )]
    pub allocator: Allocator,
    /// Do not verify the checksum: values are then passed over without reading them
    #[arg(long, hide_short_help = true)]
    pub no_verify: bool,
}

/// What the sizes of keys are.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    /// Estimated bytes in memory
    #[default]
    Memory,
    /// Bytes in the file
    Serialized,
}

impl WalkingArgs {
    /// What the flags say.
    pub fn walking(&self) -> Walking {
        let sizes = match self.size {
            Size::Memory => Sizes::Memory(self.memory.allocator),
            Size::Serialized => Sizes::Serialized,
        };
        let usual = LfuRule::default();
        Walking {
            verifies: !self.memory.no_verify,
            sizes,
            lfu: LfuRule {
                log_factor: self.lfu_log_factor.unwrap_or(usual.log_factor),
                decay_minutes: self.lfu_decay_time.unwrap_or(usual.decay_minutes),
            },
        }
    }

    /// The flags as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |flag: &str, value: Option<clap::builder::PossibleValue>| {
            words.push(flag.to_owned());
            words.extend(value.map(|value| value.get_name().to_owned()));
        };
        if self.size != Size::default() {
            add("--size", self.size.to_possible_value());
        }
        if self.memory.allocator != Allocator::default() {
            add("--allocator", self.memory.allocator.to_possible_value());
        }
        if self.memory.no_verify {
            add("--no-verify", None);
        }
        let numbers = [
            ("--lfu-log-factor", self.lfu_log_factor),
            ("--lfu-decay-time", self.lfu_decay_time),
        ];
        let given = numbers
            .iter()
            .filter_map(|(flag, number)| Some((flag, (*number)?)));
        words.extend(given.flat_map(|(flag, number)| [String::from(*flag), number.to_string()]));
        words
    }
}
