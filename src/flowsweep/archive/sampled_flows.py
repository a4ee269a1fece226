"""What the samples of each flow are together, kept with the flow: who reads it need not read the samples."""

from typing import Any

import pyarrow as pa

SAMPLED_FIELDS = (
    pa.field("sample_rows", pa.int64()),  # how many samples this end has of the flow
    pa.field("sampled_from_ns", pa.int64()),  # the beginning of the first, on the axis of the samples
    pa.field("sampled_to_ns", pa.int64()),  # the end of the last
    pa.field("sampled_ns", pa.int64()),  # how long they are together
    pa.field("sampled_bytes", pa.int64()),
)
"""What the archive adds to flows: null where there are samples of flows that the table lacks."""

_FLOW = ("role", "flow")


def with_sampled(flows: pa.Table, samples: pa.Table) -> pa.Table:
    """Add SAMPLED_FIELDS to the flows of an attempt.

    Args:
        flows: In `flowsweep.run.tables.FLOWS_SCHEMA`; one row for each role and flow, at least one.
        samples: The engine's of the same attempt: role, flow, start_ns, end_ns, bytes and more; may be empty.
    """
    sums = _sums(samples) if samples.num_rows else {}
    ends = list(zip(*(flows[name].to_pylist() for name in _FLOW), strict=True))
    rows: list[dict[str, Any]] = [{}] * len(ends)
    if sums.keys() <= set(ends):
        rows = [sums.get(end, {"sample_rows": 0}) for end in ends]
    added = pa.Table.from_pylist(rows, schema=pa.schema(SAMPLED_FIELDS))
    for field, column in zip(added.schema, added.columns, strict=True):
        flows = flows.append_column(field, column)
    return flows


def _sums(samples: pa.Table) -> dict[tuple[str, int], dict[str, int]]:
    """Of each role and flow, the values of SAMPLED_FIELDS."""
    import pyarrow.compute as pc

    lengths_ns = pc.subtract(samples["end_ns"], samples["start_ns"])
    grouped = samples.select([*_FLOW, "start_ns", "end_ns", "bytes"]).append_column("length_ns", lengths_ns)
    summed = grouped.group_by(_FLOW).aggregate(
        [("bytes", "count"), ("start_ns", "min"), ("end_ns", "max"), ("length_ns", "sum"), ("bytes", "sum")]
    )
    names = {
        "sample_rows": "bytes_count",
        "sampled_from_ns": "start_ns_min",
        "sampled_to_ns": "end_ns_max",
        "sampled_ns": "length_ns_sum",
        "sampled_bytes": "bytes_sum",
    }
    return {
        (row["role"], row["flow"]): {name: row[summed_as] for name, summed_as in names.items()}
        for row in summed.to_pylist()
    }
