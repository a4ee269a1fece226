"""A router between two hosts, in network namespaces, with a real SNMP agent on it; and an agent to ask."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flowsweep.monitors.messages import AgentAsked
from waiting import wait_until

SNMPD = shutil.which("snmpd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
COMMUNITY, USER, AUTH, PRIVACY = "sesame-open", "monitor", "authpassword", "privpassword"
PORT = 1161
SRC, NEAR_SRC, NEAR_DST, DST = "10.199.1.1", "10.199.1.2", "10.199.2.2", "10.199.2.1"
AGENT = AgentAsked(
    name="core", address="192.0.2.1", port=161, every_ns=10**10, interfaces=("et0",), community="c"
)
"""There is no such agent."""


@dataclass
class Router:
    """Namespaces `left`, `router` and `right`, in a row; devices of the router are `toleft` and `toright`."""

    folder: Path
    left: str
    router: str
    right: str
    agent: "subprocess.Popen[bytes] | None" = field(default=None)

    def counted(self, device: str, counter: str) -> int:
        """What the router's kernel counted, such as `rx_bytes`."""
        file = f"/sys/class/net/{device}/statistics/{counter}"
        words = ["ip", "netns", "exec", self.router, "cat", file]
        return int(subprocess.run(words, check=True, capture_output=True, timeout=20).stdout)

    def start_agent(self) -> None:
        """Start it; what it may be asked, and by whom, is in its configuration."""
        assert SNMPD is not None
        conf = self.folder / "snmpd.conf"
        conf.write_text(
            f"rocommunity {COMMUNITY}\nrouser {USER} priv\n"
            f'createUser {USER} SHA-256 "{AUTH}" AES "{PRIVACY}"\n'
        )
        environment = {**os.environ, "SNMP_PERSISTENT_DIR": str(self.folder / "persistent"), "MIBS": ""}
        words = ["ip", "netns", "exec", self.router, SNMPD, "-f", "-Lo", "-C", "-c", str(conf)]
        log = self.folder / "snmpd.log"
        with log.open("wb") as output:
            self.agent = subprocess.Popen(
                [*words, f"udp:{NEAR_SRC}:{PORT}"], env=environment, stdout=output, stderr=output
            )
        wait_until(lambda: b"NET-SNMP version" in log.read_bytes(), timeout_s=30)

    def pause_agent(self) -> None:
        """Let it answer nothing any more, as a router whose processor hangs."""
        assert self.agent is not None
        self.agent.send_signal(signal.SIGSTOP)

    def end_agent(self) -> None:
        if self.agent is not None:
            self.agent.kill()
            self.agent.wait(10)
            self.agent = None


@contextmanager
def routed(folder: Path) -> Iterator[Router]:
    """Make the namespaces, and take them down whatever happens."""
    mark = f"fsmon{os.getpid()}"
    names = {name: f"{mark}-{name}" for name in ("left", "router", "right")}
    with ExitStack() as stack:
        for name in names.values():
            subprocess.run(["ip", "netns", "add", name], check=True, timeout=20)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False, timeout=20)
        left, router, right = names.values()
        for name, device, address, peer_device, peer_address in (
            (left, "eth0", SRC, "toleft", NEAR_SRC),
            (right, "eth0", DST, "toright", NEAR_DST),
        ):
            words = f"link add {device} netns {name} type veth peer name {peer_device} netns {router}"
            _ip(*words.split())
            for where, what, of in ((name, device, address), (router, peer_device, peer_address)):
                _ip("-n", where, "addr", "add", f"{of}/24", "dev", what)
                _ip("-n", where, "link", "set", what, "up")
        for name in names.values():
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", left, "route", "add", "default", "via", NEAR_SRC)
        _ip("-n", right, "route", "add", "default", "via", NEAR_DST)
        forward = ["ip", "netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1"]
        subprocess.run(forward, check=True, timeout=20)
        (folder / "persistent").mkdir(parents=True, exist_ok=True)
        world = Router(folder, left, router, right)
        stack.callback(world.end_agent)
        world.start_agent()
        yield world


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20)
