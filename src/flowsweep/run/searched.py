"""What a search for the plateau is told of a trial."""

import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS
from flowsweep.run.outcome import Decided
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.trial import Trial


def searched_bps(trial: Trial, samples: pa.Table, decided: Decided | None = None) -> float:
    """Return the mean goodput of all flows after what is omitted, in bit/s.

    Args:
        trial: That was whole.
        samples: Of its ends (schema/samples.json), flows of background traffic among them.
        decided: What its source made of a trial that may end early; then what that counted.

    Returns:
        The sum over the trial's own flows, each from when the last of them had its first byte; bytes of a
        sample that is cut by the beginning or the end count for the share of its time that is inside. So it
        is the summary's mean to within a sample of one flow. 0 if there are no samples.
    """
    parameters = trial.parameters
    if not isinstance(parameters, Bulk) or samples.num_rows == 0:
        return 0.0
    own = samples.filter(
        pc.and_(pc.equal(samples["role"], "sink"), pc.less(samples["flow"], trial.total_flows))
    )
    if own.num_rows == 0:
        return 0.0
    firsts = own.group_by("flow").aggregate([("start_ns", "min")])["start_ns_min"]
    omit_ns, bins = parameters.omit_ns, parameters.expected_bins
    if decided is not None:
        omit_ns = decided.counted_from_ns
        bins = (decided.ended_ns - omit_ns) // parameters.interval_ns
    begin_ns = pc.max(firsts).as_py() + omit_ns
    length_ns = bins * parameters.interval_ns
    starts = pc.max_element_wise(own["start_ns"], pa.scalar(begin_ns))
    ends = pc.min_element_wise(own["end_ns"], pa.scalar(begin_ns + length_ns))
    inside_ns = pc.max_element_wise(pc.subtract(ends, starts), pa.scalar(0))
    spans_ns = pc.max_element_wise(pc.subtract(own["end_ns"], own["start_ns"]), pa.scalar(1))
    share = pc.divide(pc.cast(inside_ns, pa.float64()), pc.cast(spans_ns, pa.float64()))
    carried_bytes = pc.sum(pc.multiply(pc.cast(own["bytes"], pa.float64()), share)).as_py()
    return float(carried_bytes) * BITS_PER_BYTE * SECOND_NS / length_ns
