//! Tables on their way to the controller: Arrow streams of bounded size that say whose they are.

use std::{collections::HashMap, io, sync::Arc};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};
use serde_json::{Value, json};
use wire::Role;

use super::{Log, Record, column::Column};
use crate::defaults::SAMPLE_BATCH_ROWS;

/// One complete Arrow IPC stream of a table's rows, ready to be sent.
pub struct SampleBatch(pub Vec<u8>);

/// Records that become the rows of a table.
pub trait Tabular: Record {
    /// Name of the table.
    const TABLE: &'static str;
    /// What a row is, in words.
    const TITLE: &'static str;
    /// Its columns.
    fn columns() -> Vec<Column<Self>>;
}

/// Turns a log into Arrow streams of bounded size and hands each over. Returns how many rows were handed over, and why
/// not all of them: the log's temporary file cannot be read, or a batch cannot be encoded.
pub fn for_each_batch<R: Tabular>(
    log: Log<R>,
    trial: &str,
    role: Role,
    mut deliver: impl FnMut(SampleBatch),
) -> (u64, Result<(), ArrowError>) {
    let mut rows = 0;
    let whole = deliver_all(log, trial, role, |batch, batch_rows| {
        deliver(batch);
        rows += batch_rows as u64;
    });
    (rows, whole)
}

fn deliver_all<R: Tabular>(
    log: Log<R>,
    trial: &str,
    role: Role,
    mut deliver: impl FnMut(SampleBatch, usize),
) -> Result<(), ArrowError> {
    let name = match role {
        Role::Source => "source",
        Role::Sink => "sink",
    };
    let tags = [("trial", trial), ("role", name), ("table", R::TABLE)];
    let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let columns = R::columns();
    let schema = Arc::new(schema(&columns).with_metadata(HashMap::from(tags)));
    let (_, mut records) = log.into_rows()?;
    loop {
        let chunk: Vec<R> = records.by_ref().take(SAMPLE_BATCH_ROWS).collect::<io::Result<_>>()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        let arrays = columns.iter().map(|column| column.array(name, &chunk)).collect();
        writer.write(&RecordBatch::try_new(schema.clone(), arrays)?)?;
        deliver(SampleBatch(writer.into_inner()?), chunk.len());
    }
}

/// The columns as a document for people and programs, as committed in `schema/`.
#[must_use]
pub fn schema_json<R: Tabular>() -> String {
    let fields: Vec<Value> = schema(&R::columns())
        .fields()
        .iter()
        .map(|field| {
            let mut entry = json!({
                "name": field.name(),
                "type": field.data_type().to_string().to_lowercase(),
                "nullable": field.is_nullable(),
            });
            for (key, value) in field.metadata() {
                entry[key] = json!(value);
            }
            entry
        })
        .collect();
    format!("{:#}", json!({ "title": R::TITLE, "fields": fields }))
}

fn schema<R>(columns: &[Column<R>]) -> Schema {
    Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>())
}
