"""A campaign in the lab while the packets that one of its hosts receives are taken down."""

import json
import subprocess
import sys
import time
from pathlib import Path

import captured_packets
from campaign_support import COMMAND

NAMESPACES = Path("/run/netns")
BEGINS_S = 60
_LOOKS_EVERY_S = 0.02


def run_captured(plan: Path, archive: Path, packets: Path, *, host: str, timeout_s: float = 300) -> int:
    """Run a campaign, and take down what a host of its lab receives.

    Args:
        plan: With a lab.
        archive: Where the campaign goes.
        packets: Where the packets go, for `captured_packets.read_packets`.
        host: Of the lab.
        timeout_s: How long the campaign may take.

    Returns:
        How many packets the capture missed for want of room: figures from it are right if there are none.
        Trials of the campaign may have failed: the caller looks.
    """
    words = [*COMMAND, "run", str(plan), "--archive", str(archive)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as campaign:
        namespace = _namespace(campaign, host)
        command = ["ip", "netns", "exec", namespace, sys.executable, captured_packets.__file__, str(packets)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as capture:
            said, _ = campaign.communicate(timeout=timeout_s)
            told, _ = capture.communicate(timeout=BEGINS_S)
    assert archive.exists(), said
    return int(json.loads(told.splitlines()[-1])["dropped_packets"])


def _namespace(campaign: subprocess.Popen[str], host: str) -> str:
    """Wait until the lab's host is there."""
    end_s = time.monotonic() + BEGINS_S
    while time.monotonic() < end_s:
        for one in NAMESPACES.iterdir() if NAMESPACES.exists() else ():
            if one.name.startswith(f"flowsweep-{campaign.pid}-") and one.name.endswith(f"-host-{host}"):
                return one.name
        if campaign.poll() is not None:
            break
        time.sleep(_LOOKS_EVERY_S)
    campaign.kill()
    raise AssertionError(f"no lab with a host {host} within {BEGINS_S} s: {campaign.communicate()[0]}")
