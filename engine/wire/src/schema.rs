use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;

use crate::{Event, Request};

/// Both directions of the control channel, as one document.
#[derive(Serialize, JsonSchema)]
struct Messages {
    /// From the controller to an engine.
    request: Request,
    /// From an engine to the controller.
    event: Event,
}

/// The JSON Schema (draft 2020-12) of all messages, indented, as committed in `schema/messages.json`.
#[must_use]
pub fn message_schema() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Messages>();
    format!("{:#}", schema.to_value())
}
