"""The mean goodput over a trial (bulk transfer capacity, RFC 3148), of imported trials, too."""

from flowsweep.analysis.summarising.trial_row import TrialRow


def mean_goodput_of(row: TrialRow) -> float | None:
    """Return the mean over the time that counts, in bit/s; None where nothing tells it.

    Where goodput is the median of a sender's intervals, as files of other tools have them, it is what that
    sender reports of the whole transfer.
    """
    mean_bps = row.get("goodput_mean_bps")
    if mean_bps is not None or row.get("goodput_method") != "sender_median":
        return mean_bps
    size_bytes, lasted_s = row.get("bytes_sent"), row.get("elapsed_s")
    return size_bytes * 8 / lasted_s if size_bytes and lasted_s else None
