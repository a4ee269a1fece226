"""TCP's points: by the fluid model."""

from flowsweep.defaults import SECOND_NS
from flowsweep.packets import TIMESTAMPS_BYTES, header_bytes, in_tls_records
from flowsweep.prediction.congestion import KERNEL_LAWS
from flowsweep.prediction.setting import FlowSetting, PathModel
from flowsweep.prediction.tests.row import NoModelError, PredictedTest, segments_on_path
from flowsweep.prediction.windows import usable_segments
from flowsweep.schedule import TcpParameters

DEFAULT_CONGESTION = "cubic"
"""Linux's, where a plan leaves it to the host."""
LOSS_MOST = 0.01
"""Lost at random: beyond it timeouts take much of the time."""
RTT_LEAST_S = 0.001
"""Below, a round trip is what hosts take over their packets (docs/truth/presets.md), and bursts
of about 1 ms, for which a flow is taken to wait, are longer than it."""
SEGMENTS_BYTES = range(1_400, 1_461)
"""Of which usable windows were measured: docs/explanation/windows.md."""
SEGMENTS_LEAST = 8
"""Smaller windows are sent two or three segments at a time, by what is being read."""
SEND_LEAST_BYTES = 64 * 1024
"""Below, unpaced flows had up to 14 times the granted bytes in flight: docs/explanation/windows.md."""


def _setting(parameters: TcpParameters, flows: int, path: PathModel) -> FlowSetting:
    congestion = parameters.congestion or DEFAULT_CONGESTION
    if congestion not in KERNEL_LAWS:
        raise NoModelError(f'there is no model of congestion control "{congestion}"')
    headers_bytes = header_bytes(parameters.family or 4)
    segment_bytes = path.packet_bytes - headers_bytes
    if parameters.mss_bytes is not None:
        # What TCP_MAXSEG asks for has room for the options of each segment in it.
        segment_bytes = min(segment_bytes, parameters.mss_bytes - TIMESTAMPS_BYTES)
    windows = (parameters.window_send_bytes, parameters.window_recv_bytes)
    segments = usable_segments(*windows, segment_bytes)
    _check(windows, segments, segment_bytes, path)
    return FlowSetting(
        path=path.with_packets(segment_bytes + headers_bytes),
        flows=flows,
        congestion=congestion,
        window_segments=segments,
        flow_bps=parameters.bound_bps,
        segment_bytes=segment_bytes,
        duration_s=parameters.duration_ns / SECOND_NS,
        omit_s=parameters.omit_ns / SECOND_NS,
        application_share=_application_share(parameters),
    )


def _on_path(parameters: TcpParameters, family: int, mss_bytes: int | None) -> float | None:
    segments = segments_on_path(parameters, family, mss_bytes)
    return None if segments is None else segments / _application_share(parameters)


def _application_share(parameters: TcpParameters) -> float:
    length_bytes = parameters.length_bytes
    return 1.0 if parameters.encryption == "none" else length_bytes / in_tls_records(length_bytes)


def _check(
    windows: tuple[int | None, int | None], segments: int | None, segment_bytes: int, path: PathModel
) -> None:
    """Refuse what the model was never compared with, or was found to be wrong about."""
    send_bytes, recv_bytes = windows
    if path.loss > LOSS_MOST:
        raise NoModelError("over 1 % is lost at random: timeouts decide, which the model does not have")
    if path.rtt_s < RTT_LEAST_S:
        raise NoModelError("below 1 ms a round trip is the hosts', and not the path's")
    if segments is None:
        return
    if segment_bytes not in SEGMENTS_BYTES:
        raise NoModelError("which windows are usable is known for packets of 1500 bytes")
    if segments < SEGMENTS_LEAST:
        raise NoModelError(f"a window of {segments} segments is sent in bursts that the model does not know")
    if recv_bytes is None and send_bytes is not None and send_bytes < SEND_LEAST_BYTES:
        raise NoModelError("a small send buffer holds several times what it is granted")


ROW = PredictedTest(_setting, _on_path)
