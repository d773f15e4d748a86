//! The flags of `slotscope generate`.

use std::io;

use clap::Args;

use slotscope_app::cli::values::count;
use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::OUTPUT;
use slotscope_base::error::{Error, Result};

use crate::generate::{Generate, Profile};

/// A synthetic key dump on standard output
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = OUTPUT, after_help = EXAMPLES)]
pub struct GenerateArgs {
    /// What the keys look like
    #[arg(long, value_enum, default_value_t = Profile::Commerce, value_name = "NAME")]
    pub profile: Profile,
    /// How many keys: 10_000, 10k, 10M, 10G (k is 1,000)
    #[arg(long, default_value = "100k", value_parser = count, value_name = "N")]
    pub keys: u64,
    /// Another seed gives other keys of the same kind
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
}

const EXAMPLES: &str = "\
Example:
  slotscope generate --profile hot-tag --keys 1M | slotscope analyze -";

impl Run for GenerateArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let dump = self.dump();
        dump.write_to(&mut io::stdout().lock())
            .map_err(Error::stdout)?;
        Ok(Ending::Done)
    }
}

impl GenerateArgs {
    /// The dump described by the flags.
    pub fn dump(&self) -> Generate {
        Generate {
            profile: self.profile,
            keys: self.keys,
            seed: self.seed,
        }
    }
}
