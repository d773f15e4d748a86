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

    use crate::cli::SCHEMAS;

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
