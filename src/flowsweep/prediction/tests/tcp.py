"""TCP's points: by the fluid model."""

from flowsweep.defaults import SECOND_NS
from flowsweep.packets import TIMESTAMPS_BYTES, header_bytes
from flowsweep.prediction.congestion import LAWS
from flowsweep.prediction.setting import FlowSetting, PathModel
from flowsweep.prediction.tests.row import NoModelError, PredictedTest
from flowsweep.prediction.windows import usable_segments
from flowsweep.schedule import TcpParameters

DEFAULT_CONGESTION = "cubic"
"""Linux's, where a plan leaves it to the host."""


def _setting(parameters: TcpParameters, flows: int, path: PathModel) -> FlowSetting:
    congestion = parameters.congestion or DEFAULT_CONGESTION
    if congestion not in LAWS:
        raise NoModelError(f'there is no model of congestion control "{congestion}"')
    headers_bytes = header_bytes(parameters.family or 4)
    segment_bytes = path.packet_bytes - headers_bytes
    if parameters.mss_bytes is not None:
        # What TCP_MAXSEG asks for has room for the options of each segment in it.
        segment_bytes = min(segment_bytes, parameters.mss_bytes - TIMESTAMPS_BYTES)
    segments = usable_segments(parameters.window_send_bytes, parameters.window_recv_bytes, segment_bytes)
    return FlowSetting(
        path=path.with_packets(segment_bytes + headers_bytes),
        flows=flows,
        congestion=congestion,
        window_segments=segments,
        flow_bps=parameters.bound_bps,
        segment_bytes=segment_bytes,
        duration_s=parameters.duration_ns / SECOND_NS,
        omit_s=parameters.omit_ns / SECOND_NS,
    )


ROW = PredictedTest(_setting)
