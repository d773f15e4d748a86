//! The JSON Schemas of all `--json` outputs, generated from the serialized types. docs/schema holds them.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of `T` as serialized.
pub(crate) fn of<T: JsonSchema>() -> Value {
    // Defaults only apply to reading, while these schemas describe output.
    let without_default = |schema: &mut Schema| drop(schema.remove("default"));
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(without_default));
    settings.into_generator().into_root_schema_for::<T>().into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    use slotscope_advisor::findings::AdviseFindings;
    use slotscope_engine::source::collection::manifest::Manifest;
    use slotscope_findings::plan::outcome::PlanOutcome;
    use slotscope_model::Summary;
    use slotscope_model::node_counts::NodeCounts;

    use crate::bench::Figures;
    use crate::diff::Diff;
    use crate::dump::RecordLine;
    use crate::fanout::FanoutFindings;
    use crate::find_tag::view::TagLine;
    use crate::keyslot::KeySlot;
    use crate::lint::LintFindings;
    use crate::timeline::Timeline;
    use crate::trend::Trend;
    use crate::whatif::findings::WhatIfFindings;

    /// The name of a command or file, with a function that builds its schema.
    type Named = (&'static str, fn() -> Value);

    /// Each output by schema name, which is the command's name if it has a single form of output.
    static SCHEMAS: &[Named] = &[
        ("report", of::<Summary>),
        ("node-counts", of::<NodeCounts>),
        ("advise", of::<AdviseFindings>),
        ("bench", of::<Figures>),
        ("collect", of::<Manifest>),
        ("diff", of::<Diff>),
        ("dump", of::<RecordLine>),
        ("fanout", of::<FanoutFindings>),
        ("find-tag", of::<TagLine>),
        ("keyslot", of::<KeySlot>),
        ("lint", of::<LintFindings>),
        ("plan", of::<PlanOutcome>),
        ("timeline", of::<Timeline>),
        ("trend", of::<Trend>),
        ("whatif", of::<WhatIfFindings>),
    ];

    #[test]
    fn committed_schemas_are_the_generated_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
        for (name, schema) in SCHEMAS {
            let path = folder.join(format!("{name}.json"));
            let generated = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
            if std::env::var_os("BLESS").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, &generated).unwrap();
            }
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            let hint = "BLESS=1 cargo test --lib schema rewrites it";
            assert!(
                committed == generated,
                "{} is not up to date: {hint}",
                path.display()
            );
        }
        let files = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(
            files,
            SCHEMAS.len(),
            "a schema of no output in {}",
            folder.display()
        );
    }
}
