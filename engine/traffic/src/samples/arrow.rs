use std::{collections::HashMap, io, sync::Arc};

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, builder::Int64Builder};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde_json::{Value, json};
use sys::{FIELDS, Kind};
use wire::Role;

use super::{Sample, SampleLog};
use crate::defaults::SAMPLE_BATCH_ROWS;

/// One complete Arrow IPC stream of samples, ready to be sent.
pub struct SampleBatch(pub Vec<u8>);

const OWN_COLUMNS: [(&str, DataType, &str, &str); 5] = [
    ("role", DataType::Utf8, "", "Which end saw this: source or sink."),
    ("flow", DataType::Int32, "", "Index of the flow in its trial, from 0."),
    (
        "start_ns",
        DataType::Int64,
        "ns",
        "Beginning of the interval, since this end's origin. A sink's first row begins with the flow's first byte.",
    ),
    ("end_ns", DataType::Int64, "ns", "End of the interval, exclusive, since this end's origin."),
    ("bytes", DataType::Int64, "bytes", "Application bytes in the interval: written by a source, read by a sink."),
];

/// The columns of every sample table, each with unit and meaning in its metadata.
#[must_use]
pub fn sample_schema() -> Schema {
    let own = OWN_COLUMNS.into_iter().map(|(name, kind, unit, description)| {
        Field::new(name, kind, false).with_metadata(metadata(unit, "", description))
    });
    let kernel = FIELDS.iter().map(|field| {
        let kind = if field.kind == Kind::Counter { "counter" } else { "gauge" };
        let mut metadata = metadata(field.unit, kind, field.description);
        if let Some(bits) = field.counter_bits() {
            metadata.insert("counter_bits".to_owned(), bits.to_string());
        }
        Field::new(field.name, DataType::Int64, true).with_metadata(metadata)
    });
    Schema::new(own.chain(kernel).collect::<Vec<_>>())
}

/// [`sample_schema`] as a document for people and programs, as committed in `schema/samples.json`.
#[must_use]
pub fn sample_schema_json() -> String {
    let fields: Vec<Value> = sample_schema()
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
    format!("{:#}", json!({ "title": "Samples: one row is one flow, one end, one sample interval", "fields": fields }))
}

/// Turns a log into Arrow streams of bounded size and hands each over; returns the number of rows.
///
/// # Errors
/// When the log's temporary file cannot be read or a batch cannot be encoded.
pub fn for_each_batch(
    log: SampleLog,
    trial: &str,
    role: Role,
    mut deliver: impl FnMut(SampleBatch),
) -> Result<u64, ArrowError> {
    let name = match role {
        Role::Source => "source",
        Role::Sink => "sink",
    };
    let tags = HashMap::from([("trial".to_owned(), trial.to_owned()), ("role".to_owned(), name.to_owned())]);
    let schema = Arc::new(sample_schema().with_metadata(tags));
    let (rows, mut samples) = log.into_rows()?;
    loop {
        let chunk: Vec<Sample> = samples.by_ref().take(SAMPLE_BATCH_ROWS).collect::<io::Result<_>>()?;
        if chunk.is_empty() {
            return Ok(rows);
        }
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&record_batch(&schema, name, &chunk)?)?;
        deliver(SampleBatch(writer.into_inner()?));
    }
}

fn record_batch(schema: &Arc<Schema>, role: &str, samples: &[Sample]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(samples.iter().map(|_| role))),
        Arc::new(Int32Array::from_iter_values(samples.iter().map(|sample| sample.flow.cast_signed()))),
        Arc::new(Int64Array::from_iter_values(samples.iter().map(|sample| sample.start_ns))),
        Arc::new(Int64Array::from_iter_values(samples.iter().map(|sample| sample.end_ns))),
        Arc::new(Int64Array::from_iter_values(samples.iter().map(|sample| sample.bytes.cast_signed()))),
    ];
    for field in FIELDS {
        let mut builder = Int64Builder::with_capacity(samples.len());
        for sample in samples {
            builder.append_option(field.value(&sample.tcp_info).map(u64::cast_signed));
        }
        columns.push(Arc::new(builder.finish()));
    }
    RecordBatch::try_new(schema.clone(), columns)
}

fn metadata(unit: &str, kind: &str, description: &str) -> HashMap<String, String> {
    [("unit", unit), ("kind", kind), ("description", description)]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::reader::StreamReader;
    use sys::TcpInfo;

    #[test]
    fn a_log_becomes_streams_that_say_whose_they_are() {
        let mut log = SampleLog::new();
        for flow in 0..20_000 {
            let tcp_info = TcpInfo::from_bytes(&[1; 104]);
            log.push(&Sample { flow, start_ns: 1, end_ns: 2, bytes: 3, tcp_info });
        }
        let mut seen = 0;
        let rows = for_each_batch(log, "t1", Role::Sink, |batch| {
            for records in StreamReader::try_new(&batch.0[..], None).unwrap() {
                let records = records.unwrap();
                assert_eq!(records.schema().metadata()["trial"], "t1");
                let late = records.column_by_name("received_ce_bytes").unwrap();
                assert_eq!(late.null_count(), records.num_rows());
                seen += records.num_rows();
            }
        });
        assert_eq!(rows.unwrap(), 20_000);
        assert_eq!(seen, 20_000);
    }

    #[test]
    fn every_column_says_what_it_means() {
        for field in sample_schema().fields() {
            assert!(field.metadata().contains_key("description"), "{} is not described", field.name());
        }
    }
}
