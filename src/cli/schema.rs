//! `slotscope schema`: the JSON Schemas of all JSON outputs, which docs/schema holds. With the feature `schemas` a test
//! generates them from the types that are written.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use slotscope_app::cli::{Command, Ending, Output, Run};
use slotscope_app::options::headings::ARGUMENTS;
use slotscope_base::error::{Error, Result};

use crate::cli::COMMANDS;

/// JSON outputs of a command: the name of each, which is that of its file in docs/schema, and the type that is written.
macro_rules! outputs {
    ($($name:literal: $written:ty),*) => {
        &[$(slotscope_app::cli::Output {
            name: $name,
            schema: include_str!(concat!("../../docs/schema/", $name, ".json")),
            #[cfg(feature = "schemas")]
            generate: |generator| generator.into_root_schema_for::<$written>(),
        }),*]
    };
}
pub(super) use outputs;

/// The JSON Schema of a JSON output
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// The output: a command's name, `report` for report.json, `node-counts` for analyze with --cluster-info and no dump
    #[arg(help_heading = ARGUMENTS, value_parser = PossibleValuesParser::new(names()))]
    pub name: String,
}

const EXAMPLES: &str = "\
Example:
  slotscope schema report > report.schema.json";

impl Run for SchemaArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let output = all().find(|output| output.name == self.name);
        let schema = output.map_or("", |output| output.schema);
        std::io::stdout()
            .write_all(schema.as_bytes())
            .map_err(Error::stdout)?;
        Ok(Ending::Done)
    }
}

fn all() -> impl Iterator<Item = &'static Output> {
    COMMANDS.iter().flat_map(|command| command.outputs)
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = all().map(|output| output.name).collect();
    names.sort_unstable();
    names
}

#[cfg(all(test, feature = "schemas"))]
mod tests {
    use std::path::Path;

    use schemars::Schema;
    use schemars::generate::SchemaSettings;
    use schemars::transform::RecursiveTransform;
    use serde_json::Value;

    use super::*;

    /// The schema of an output as serialized.
    fn of(output: &Output) -> Value {
        // Defaults only apply to reading, while these schemas describe output.
        let without_default = |schema: &mut Schema| drop(schema.remove("default"));
        let settings = SchemaSettings::draft2020_12()
            .for_serialize()
            .with_transform(RecursiveTransform(without_default));
        (output.generate)(settings.into_generator()).into()
    }

    #[test]
    fn committed_schemas_are_the_generated_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
        for output in all() {
            let generated = serde_json::to_string_pretty(&of(output)).unwrap() + "\n";
            if std::env::var_os("BLESS").is_some() {
                let path = folder.join(output.name).with_extension("json");
                std::fs::write(path, &generated).unwrap();
            }
            let hint = "BLESS=1 cargo test --features schemas --lib schema rewrites it";
            assert!(
                output.schema == generated || std::env::var_os("BLESS").is_some(),
                "docs/schema/{}.json is not up to date: {hint}",
                output.name
            );
        }
        let files = std::fs::read_dir(&folder).unwrap().count();
        let is_each_used = files == all().count() || !cfg!(feature = "rooms");
        assert!(is_each_used, "a schema of no output in docs/schema");
    }
}
