"""QUIC's points: by the fluid model, with packets, windows and congestion control as quinn has them."""

from flowsweep.defaults import QUIC_SEND_WINDOW_BYTES, QUIC_STREAM_WINDOW_BYTES, SECOND_NS
from flowsweep.packets import QUIC_PACKET_EXTRA_BYTES, udp_header_bytes
from flowsweep.prediction.setting import QUIC_COMPARED, FlowSetting, PathModel
from flowsweep.prediction.tests.row import NoModelError, PredictedTest
from flowsweep.prediction.tests.tcp import DEFAULT_CONGESTION, RTT_LEAST_S
from flowsweep.schedule.tests.quic import QuicParameters

LAWS_OF_NAMES = {"cubic": "cubic without HyStart", "newreno": "reno"}
"""The library's congestion controls that the model has the like of. Its BBR, alone on a path, reached 76 to
101 % of what the model's does."""
LOSS_MOST = 0.000_1
"""Lost at random: with ten times that, flows reached 54 to 145 % of what the model says."""
QUEUE_LEAST_PACKETS = 16
"""Of a bottleneck: the library sends ten datagrams at once, and more."""
DATAGRAM_MOST_BYTES = 1_452
"""What MTU discovery ends with, at most (quinn)."""
RECEIVE_SHARE = 0.9
"""Of a window: the library grants more once an eighth of it was read. On emulated paths 0.87 to 0.94."""
SEND_SHARE_LEAST = 1 / 3
"""Of a send window that is the smaller one was in flight, at least: docs/explanation/prediction.md."""
WINDOW_LEAST_BYTES = 64 * 1024
"""Below, 0.5 to 0.99 of a window were in flight."""


def _setting(parameters: QuicParameters, flows: int, path: PathModel) -> FlowSetting:
    congestion = parameters.congestion or DEFAULT_CONGESTION
    if congestion not in LAWS_OF_NAMES:
        raise NoModelError(f'there is no model of QUIC with congestion control "{congestion}"')
    if path.loss > LOSS_MOST:
        raise NoModelError("over 0.01 % is lost at random, for which the model of QUIC is too rough")
    if path.queue_bytes < QUEUE_LEAST_PACKETS * path.packet_bytes:
        raise NoModelError(f"a queue of fewer than {QUEUE_LEAST_PACKETS} packets holds no burst of QUIC")
    headers_bytes = udp_header_bytes(parameters.family or 4)
    datagram_bytes = parameters.datagram_bytes or min(DATAGRAM_MOST_BYTES, path.packet_bytes - headers_bytes)
    if datagram_bytes + headers_bytes > path.packet_bytes:
        raise NoModelError("datagrams larger than the path's packets do not arrive")
    payload_bytes = datagram_bytes - QUIC_PACKET_EXTRA_BYTES
    return FlowSetting(
        path=path.with_packets(datagram_bytes + headers_bytes),
        flows=flows,
        congestion=LAWS_OF_NAMES[congestion],
        window_segments=round(_usable_bytes(parameters, flows, path) / payload_bytes),
        flow_bps=parameters.bound_bps,
        segment_bytes=payload_bytes,
        duration_s=parameters.duration_ns / SECOND_NS,
        omit_s=parameters.omit_ns / SECOND_NS,
        in_bursts=False,
        compared=QUIC_COMPARED,
    )


def _usable_bytes(parameters: QuicParameters, flows: int, path: PathModel) -> float:
    """What a connection may have in flight by its windows; raises NoModelError."""
    send_bytes = parameters.window_send_bytes or QUIC_SEND_WINDOW_BYTES
    recv_bytes = parameters.window_recv_bytes
    of_streams = parameters.streams_per_flow * (parameters.stream_window_bytes or QUIC_STREAM_WINDOW_BYTES)
    least_bytes = of_streams if recv_bytes is None else min(of_streams, recv_bytes)
    if path.rtt_s < RTT_LEAST_S:
        raise NoModelError("below 1 ms a round trip is the hosts', and not the path's")
    # Where the least of it that flies fills path and queue it holds nothing back.
    path_bytes = path.rate_bps * path.rtt_s / 8 + path.queue_bytes
    if send_bytes < least_bytes and SEND_SHARE_LEAST * send_bytes < path_bytes / flows:
        raise NoModelError("which part of a send window of QUIC is in flight depends on the path")
    if least_bytes < WINDOW_LEAST_BYTES:
        raise NoModelError("which part of a window of QUIC below 64 KiB is in flight depends on the path")
    return RECEIVE_SHARE * least_bytes


def _on_path(parameters: QuicParameters, family: int, _: int | None) -> float:
    datagram_bytes = parameters.datagram_bytes or DATAGRAM_MOST_BYTES
    return (datagram_bytes + udp_header_bytes(family)) / (datagram_bytes - QUIC_PACKET_EXTRA_BYTES)


ROW = PredictedTest(_setting, _on_path, of_kernel=False)
