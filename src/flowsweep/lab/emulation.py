"""What an emulator has to know of its link (schema/emulation.json). Pure."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from flowsweep import defaults
from flowsweep.lab.topology import EmulatedLink
from flowsweep.plan.links.model import CrossTraffic, LinkDirection

SEED_BYTES = 8


def emulation(layout: EmulatedLink, seed: int, namespaces: Path) -> dict[str, Any]:
    """The request for one link; `namespaces` is the folder where `ip netns` keeps them."""
    link = layout.link
    ways = (link.forward, link.backward)
    paths = zip(*(way.members or (way,) for way in ways), strict=True)
    directions, *further = [[_direction(way) for way in path] for path in paths]
    return {
        "devices": [
            {"namespace": str(namespaces / end.host_namespace), "name": end.host_device}
            for end in layout.ends
        ],
        "mtu_bytes": link.mtu_bytes,
        "seed": seed,
        "report_interval_us": defaults.LAB_EMULATOR_REPORT_NS // defaults.MICROSECOND_NS,
        "directions": directions,
        "further": further,
        "dscps": [member.dscp for member in link.forward.members],
    }


def seed_of(campaign_seed: int, link: str) -> int:
    """The seed of what is random on a link: the first 8 bytes of SHA-256 of "SEED/LINK"."""
    digest = sha256(f"{campaign_seed}/{link}".encode()).digest()
    return int.from_bytes(digest[:SEED_BYTES], "big")


def _direction(way: LinkDirection) -> dict[str, Any]:
    return {
        "rate_bps": way.rate_bps,
        "delay_us": way.delay_ns // defaults.MICROSECOND_NS,
        "jitter_us": way.jitter_ns // defaults.MICROSECOND_NS,
        "reorder": way.reorder,
        "loss": way.loss,
        "duplicate": way.duplicate,
        "queue_bytes": way.queue_limit_bytes,
        "queue_packets": way.queue_packets,
        "policer": None if way.policer is None else way.policer.model_dump(),
        "cross": None if way.cross is None else _cross(way.cross),
    }


def _cross(cross: CrossTraffic) -> dict[str, Any]:
    pauses = None
    if cross.on_ns is not None and cross.off_ns is not None:
        pauses = {
            "on_us": cross.on_ns // defaults.MICROSECOND_NS,
            "off_us": cross.off_ns // defaults.MICROSECOND_NS,
            "poisson": cross.poisson,
        }
    return {"rate_bps": cross.rate_bps, "packet_bytes": cross.packet_bytes, "pauses": pauses}
