"""From a window that is asked for to the segments that can fly: what Linux makes of SO_RCVBUF and SO_SNDBUF.

How it comes about, and how it was measured: docs/explanation/windows.md.
"""

import math

RECEIVE_SHARE = 1.33
"""Of a request: twice of it is granted, and two thirds of the memory around a segment are payload."""
SEND_SHARE = 2.0 * 0.9
"""Of a request: twice of it is granted; a writer that sleeps until a third is free leaves a tenth."""
SEGMENTS_BEING_READ = 2
"""Of a receive window: what arrives is charged until it is read, so that the window stays smaller."""
LEAST_SEGMENTS = 2


def usable_segments(
    window_send_bytes: int | None, window_recv_bytes: int | None, segment_bytes: int
) -> int | None:
    """Predict how many segments a flow may have in flight.

    Args:
        window_send_bytes: What the sender asks for by SO_SNDBUF; None: autotuning.
        window_recv_bytes: What the receiver asks for by SO_RCVBUF; None: autotuning.
        segment_bytes: Payload of a full segment.

    Returns:
        None where autotuning decides at both ends.
    """
    limits: list[float] = []
    if window_recv_bytes is not None and window_recv_bytes > 0:
        grown = RECEIVE_SHARE * window_recv_bytes - SEGMENTS_BEING_READ * segment_bytes
        # The window scale is that of the request: the field of 16 bits ends below the next power of two.
        limits.append(min(grown, 2.0 ** (math.floor(math.log2(window_recv_bytes)) + 1)))
    if window_send_bytes is not None and window_send_bytes > 0:
        limits.append(SEND_SHARE * window_send_bytes)
    return max(round(min(limits) / segment_bytes), LEAST_SEGMENTS) if limits else None
