"""UDP's points: what is offered, as far as the path carries it."""

from flowsweep.packets import udp_header_bytes
from flowsweep.prediction.setting import Before, PathModel, Prediction
from flowsweep.prediction.tests.row import NoModelError, PredictedTest
from flowsweep.schedule import UdpParameters


def _prediction(parameters: UdpParameters, flows: int, path: PathModel) -> Prediction:
    if parameters.bound_bps is None:
        raise NoModelError("datagrams without a rate are sent as fast as the host can")
    if parameters.packet_bytes > path.packet_bytes:
        raise NoModelError("datagrams larger than the path's packets are cut to fragments")
    path = path.with_packets(parameters.packet_bytes)
    offered_bps = parameters.bound_bps * flows
    carried_bps = path.rate_bps * parameters.length_bytes / parameters.packet_bytes
    overloaded = offered_bps > carried_bps
    if overloaded and path.crossed:
        raise NoModelError(
            "datagrams fill a queue that cross traffic shares: how many are lost depends on sizes and moments"
        )
    packets_bps = offered_bps * parameters.packet_bytes / parameters.length_bytes
    if overloaded and path.before is not None and _drops(path.before, packets_bps):
        raise NoModelError("datagrams overload the slowest hop, and some are lost on hops before it")
    passed_bps = min(offered_bps, carried_bps)
    goodput_bps = passed_bps * (1 - path.loss)
    queued_s = path.queue_bytes * 8 / path.rate_bps if overloaded else 0.0
    return Prediction(
        goodput_bps=goodput_bps,
        lowest_bps=goodput_bps,
        highest_bps=goodput_bps,
        whole_bps=goodput_bps,
        rtt_s=path.rtt_s + path.packet_s + queued_s,
        limit="path" if overloaded else "rate asked",
    )


def _drops(before: Before, packets_bps: float) -> bool:
    """Whether hops lose some of what comes."""
    return before.loss > 0 or (before.rate_bps is not None and packets_bps > before.rate_bps)


def _on_path(parameters: UdpParameters, family: int, _: int | None) -> float:
    return 1 + udp_header_bytes(family) / parameters.length_bytes


ROW = PredictedTest(_prediction, _on_path)
