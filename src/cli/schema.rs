//! `slotscope schema`: the JSON Schemas of all JSON outputs, which docs/schema holds. With the feature `schemas` a test
//! generates them from the types that are written.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use slotscope_engine::error::{Error, Result};

use crate::cli::{Ending, Run};
use crate::options::headings::ARGUMENTS;

/// An output, whose schema is the file of its name in docs/schema.
struct Output {
    name: &'static str,
    schema: &'static str,
    #[cfg(all(test, feature = "schemas"))]
    generate: fn() -> Value,
}

/// A table of outputs, each with the type that is written.
macro_rules! outputs {
    ($($name:literal: $written:ty,)*) => {
        static OUTPUTS: &[Output] = &[$(Output {
            name: $name,
            schema: include_str!(concat!("../../docs/schema/", $name, ".json")),
            #[cfg(all(test, feature = "schemas"))]
            generate: tests::of::<$written>,
        },)*];
    };
}

outputs! {
    "advise": slotscope_advisor::findings::AdviseFindings,
    "bench": crate::bench::Figures,
    "capacity": crate::capacity::Capacity,
    "collect": slotscope_engine::source::collection::manifest::Manifest,
    "diff": crate::diff::Diff,
    "dump": crate::cli::dump::RecordLine,
    "fanout": crate::fanout::FanoutFindings,
    "find-tag": crate::find_tag::view::TagLine,
    "keyslot": crate::cli::keyslot::KeySlot,
    "lint": crate::lint::LintFindings,
    "node-counts": slotscope_model::node_counts::NodeCounts,
    "plan": slotscope_findings::plan::outcome::PlanOutcome,
    "report": slotscope_model::Summary,
    "timeline": crate::timeline::Timeline,
    "whatif": crate::whatif::findings::WhatIfFindings,
}

/// The JSON Schema of a JSON output.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// The output: a command's name, `report` for report.json, `node-counts` for analyze with --cluster-info and no dump
    #[arg(help_heading = ARGUMENTS, value_parser = PossibleValuesParser::new(OUTPUTS.iter().map(|output| output.name)))]
    pub name: String,
}

const EXAMPLES: &str = "\
Example:
  slotscope schema report > report.schema.json";

impl Run for SchemaArgs {
    fn run(&self) -> Result<Ending> {
        std::io::stdout()
            .write_all(text_of(&self.name).as_bytes())
            .map_err(Error::stdout)?;
        Ok(Ending::Done)
    }
}

fn text_of(name: &str) -> &'static str {
    let known = OUTPUTS.iter().find(|output| output.name == name);
    known.map_or("", |output| output.schema)
}

/// The schema of the output `name`, one of the table.
pub(crate) fn named(name: &str) -> Value {
    serde_json::from_str(text_of(name)).unwrap_or_default()
}

#[cfg(all(test, feature = "schemas"))]
mod tests {
    use std::path::Path;

    use schemars::generate::SchemaSettings;
    use schemars::transform::RecursiveTransform;
    use schemars::{JsonSchema, Schema};

    use super::*;

    /// The schema of `T` as serialized.
    pub(super) fn of<T: JsonSchema>() -> Value {
        // Defaults only apply to reading, while these schemas describe output.
        let without_default = |schema: &mut Schema| drop(schema.remove("default"));
        let settings = SchemaSettings::draft2020_12()
            .for_serialize()
            .with_transform(RecursiveTransform(without_default));
        settings.into_generator().into_root_schema_for::<T>().into()
    }

    #[test]
    fn committed_schemas_are_the_generated_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
        for output in OUTPUTS {
            let generated = serde_json::to_string_pretty(&(output.generate)()).unwrap() + "\n";
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
        assert_eq!(files, OUTPUTS.len(), "a schema of no output in docs/schema");
    }
}
