//! The JSON Schemas of values by metric, whose members have the metrics' names.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::metric::per_metric::{ERROR_NAMES, Errors, NAMES, PerMetric, PerWeight};

/// The schema of an object with members of type `T` named after metrics; keys are required if the first `required` of
/// them are.
fn schema<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    names: &[&str],
    required: usize,
) -> Schema {
    let member = generator.subschema_for::<T>().to_value();
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (String::from(*name), member.clone()))
        .collect();
    json_schema!({ "type": "object", "properties": properties, "required": names[..required] })
}

impl<T: JsonSchema> JsonSchema for PerMetric<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("PerMetric_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<T>(generator, &NAMES, 1)
    }

    fn inline_schema() -> bool {
        true
    }
}

impl<T: JsonSchema> JsonSchema for PerWeight<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("PerWeight_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<T>(generator, &NAMES[1..], 0)
    }

    fn inline_schema() -> bool {
        true
    }
}

impl JsonSchema for Errors {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Errors".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<u64>(generator, &ERROR_NAMES, 1)
    }

    fn inline_schema() -> bool {
        true
    }
}
