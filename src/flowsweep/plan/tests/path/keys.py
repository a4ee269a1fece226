"""Keys that a sweep of test = "path" has; none of them is an axis."""

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.fields import key
from flowsweep.plan.sweeps.shared_keys import ProbeKeys


class PathKeys(ProbeKeys):
    """Keys of path measurements only. Sizes are of whole IP packets."""

    ttl_max: fields.HopLimit = key("Hops to look for; 0: none.", defaults.PATH_TTL_MAX)
    sizes: fields.ProbeSizes = key(
        "Probe sizes at each hop, at least three. Four tell a capacity: it follows from the additional time "
        "per byte. Over IPv6, sizes below 1232 B are left out.",
        defaults.PATH_SIZES_BYTES,
        written=[units.write_size(size) for size in defaults.PATH_SIZES_BYTES],
        examples=[["600B", "900B", "1200B", "1400B"]],
    )
    probes: fields.Probes = key("Probes of each size at each hop.", defaults.PATH_PROBES)
    trains: fields.Trains = key(
        "Trains of packets, back to back, through the whole path.", defaults.PATH_TRAINS
    )
    train_packets: fields.TrainPackets = key("Packets of a train.", defaults.PATH_TRAIN_PACKETS)
    train_length: fields.TrainLength = key(
        "Size of a packet of trains and streams.",
        defaults.PATH_TRAIN_BYTES,
        written=units.write_size(defaults.PATH_TRAIN_BYTES),
    )
    streams: fields.Trains = key(
        "Streams of packets, evenly apart, at each of several rates up to the path's capacity; 0: none.",
        defaults.PATH_STREAMS,
    )
    stream_packets: fields.StreamPackets = key("Packets of a stream.", defaults.PATH_STREAM_PACKETS)
    stream_rates: fields.StreamRates = key("How many rates, evenly apart.", defaults.PATH_STREAM_RATES)
