"""What one step of a search tells: whether its rate was carried."""

from fractions import Fraction

import pyarrow as pa

from flowsweep.defaults import OFFERED_SHARE_MIN, SECOND_NS
from flowsweep.schedule.tests.udp import UdpParameters
from flowsweep.schedule.trial import Trial

_BITS_PER_BYTE = 8


def carried(trial: Trial, flows: pa.Table) -> bool | None:
    """Judge a trial that is whole: its source offered the rate, and no more than the limit was lost.

    Args:
        trial: Of any kind.
        flows: What its ends told, in FLOWS_SCHEMA.

    Returns:
        None for a trial that is no step of a search.
    """
    search, parameters = trial.search, trial.parameters
    if search is None or not isinstance(parameters, UdpParameters) or parameters.rate_sum_bps is None:
        return None
    counts = {"source": 0, "sink": 0}
    for row in flows.select(["role", "background", "udp_datagrams"]).to_pylist():
        if row["background"] is None:
            counts[row["role"]] += row["udp_datagrams"] or 0
    sent, came = counts["source"], counts["sink"]
    sent_bits = sent * parameters.length_bytes * _BITS_PER_BYTE
    asked_bits = Fraction(parameters.rate_sum_bps * (parameters.duration_ns + trial.pad_ns), SECOND_NS)
    offered = sent_bits >= Fraction(str(OFFERED_SHARE_MIN)) * asked_bits
    return sent > 0 and offered and sent - came <= Fraction(str(search.loss_max)) * sent
