"""Network namespaces are told from machines, and where their settings have to be written."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flowsweep.hosts.namespaces import here_is_namespace, is_namespace, where_written

MACHINE = {"net.core.netdev_max_backlog": "1000", "net.core.rmem_max": "212992"}
NAMESPACE = {"net.core.rmem_max": "212992"}


def test_what_only_a_machine_has_tells_a_namespace() -> None:
    assert is_namespace(NAMESPACE)
    assert not is_namespace(MACHINE)
    assert not is_namespace({})
    assert not is_namespace(None)


@pytest.mark.parametrize(
    ("setting", "where"),
    [
        ("net.core.rmem_max", "on the machine that `right` is a network namespace of"),
        ("net.core.wmem_max", "on the machine that `right` is a network namespace of"),
        ("net.ipv4.tcp_allowed_congestion_control", "on the machine that `right` is a network namespace of"),
        ("net.ipv4.tcp_rmem", "there"),
    ],
)
def test_what_a_machine_shares_with_its_namespaces_is_written_there(setting: str, where: str) -> None:
    assert where_written(setting, "right", NAMESPACE) == where
    assert where_written(setting, "right", MACHINE) == "there"
    assert where_written(setting, "right", MACHINE, otherwise="at right") == "at right"


def test_a_namespace_of_this_machine_is_one() -> None:
    """In one that is made for it; and a namespace within a container is no machine either."""
    unshare = shutil.which("unshare")
    code = "from flowsweep.hosts.namespaces import here_is_namespace; print(here_is_namespace())"
    if unshare is None or subprocess.run([unshare, "-rn", "true"], check=False).returncode != 0:
        pytest.skip("this host makes no network namespaces for ordinary users")
    said = subprocess.run(
        [unshare, "-rn", sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert said.stdout.strip() == "True"
    backlog = Path("/proc/sys/net/core/netdev_max_backlog")
    assert here_is_namespace() is not backlog.exists()
