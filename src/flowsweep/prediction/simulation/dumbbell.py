"""The process that simulates: settings as lines of JSON on standard input, results on standard output.

ns-3's bindings compile C++ while they are imported, print as they like, and keep what was set before: so they
live here alone, and nobody imports this file.
"""

import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeAlias

Bound: TypeAlias = Any
"""What the bindings have: C++, which no type checker sees."""

_LAWS = {"cubic": "ns3::TcpCubic", "reno": "ns3::TcpLinuxReno", "bbr": "ns3::TcpBbr"}
_FIRST_PORT = 5_000
_SEND_BUFFER_BYTES = 1 << 26
_PPP_BYTES = 2
"""Framing of a point-to-point device, which is no part of a plan's rate."""


def main() -> None:
    """Simulate until standard input ends."""
    results = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    # What libraries print is no result.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    ns = import_module("ns").ns
    for line in sys.stdin:
        print(json.dumps({"goodput_bps": _simulated(ns, json.loads(line))}), file=results, flush=True)


def _simulated(ns: Bound, setting: Mapping[str, Any]) -> float:
    """Run one setting; mean goodput of all flows over the time that counts, in bit/s."""
    path = setting["path"]
    packet_bytes = path["packet_bytes"]
    _set_defaults(ns, setting)
    nodes = ns.NodeContainer()
    nodes.Create(2)
    wire = ns.PointToPointHelper()
    rate_bps = round(path["rate_bps"] * (packet_bytes + _PPP_BYTES) / packet_bytes)
    wire.SetDeviceAttribute("DataRate", ns.StringValue(f"{rate_bps}bps"))
    wire.SetDeviceAttribute("Mtu", ns.UintegerValue(packet_bytes))
    wire.SetChannelAttribute("Delay", ns.StringValue(f"{round(path['rtt_s'] / 2 * 1e9)}ns"))
    queue_packets = max(round(path["queue_bytes"] / packet_bytes), 2)
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", ns.StringValue(f"{queue_packets}p"))
    devices = wire.Install(nodes)
    if path["loss"]:
        errors = ns.CreateObject[ns.RateErrorModel]()
        errors.SetUnit(ns.RateErrorModel.ERROR_UNIT_PACKET)
        errors.SetRate(path["loss"])
        devices.Get(1).SetAttribute("ReceiveErrorModel", ns.PointerValue(errors))
    ns.InternetStackHelper().Install(nodes)
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = addresses.Assign(devices)
    # The device's queue is the only one: a queueing discipline would be a second.
    ns.TrafficControlHelper().Uninstall(devices)
    sinks = [_flow(ns, nodes, interfaces, _FIRST_PORT + flow) for flow in range(setting["flows"])]
    before = _run(ns, sinks, setting["omit_s"])
    after = _run(ns, sinks, setting["duration_s"] - setting["omit_s"])
    ns.Simulator.Destroy()
    return float((after - before) * 8 / (setting["duration_s"] - setting["omit_s"]))


def _set_defaults(ns: Bound, setting: Mapping[str, Any]) -> None:
    law = ns.TypeId.LookupByName(_LAWS[setting["congestion"]])
    ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.TypeIdValue(law))
    segment_bytes, segments = setting["segment_bytes"], setting["window_segments"]
    window_bytes = _SEND_BUFFER_BYTES if segments is None else segments * segment_bytes
    for name, value in (
        ("SegmentSize", segment_bytes),
        ("InitialCwnd", 10),
        ("SndBufSize", _SEND_BUFFER_BYTES),
        ("RcvBufSize", window_bytes),
    ):
        ns.Config.SetDefault(f"ns3::TcpSocket::{name}", ns.UintegerValue(value))
    # As Linux has it; ns-3 has 1 s.
    ns.Config.SetDefault("ns3::TcpSocketBase::MinRto", ns.TimeValue(ns.MilliSeconds(200)))


def _flow(ns: Bound, nodes: Bound, interfaces: Bound, port: int) -> Bound:
    """Install a source at the first node and a sink at the second; returns the sink."""
    anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(nodes.Get(1))
    sink.Start(ns.Seconds(0))
    there = ns.InetSocketAddress(interfaces.GetAddress(1), port).ConvertTo()
    source = ns.BulkSendHelper("ns3::TcpSocketFactory", there)
    source.SetAttribute("MaxBytes", ns.UintegerValue(0))
    source.Install(nodes.Get(0)).Start(ns.Seconds(0))
    return sink.Get(0)


def _run(ns: Bound, sinks: Bound, seconds: float) -> int:
    """Go on for some seconds; bytes that all sinks have received by then."""
    if seconds:
        ns.Simulator.Stop(ns.Seconds(seconds))
        ns.Simulator.Run()
    return sum(sink.GetObject[ns.PacketSink]().__deref__().GetTotalRx() for sink in sinks)


if __name__ == "__main__":
    main()
