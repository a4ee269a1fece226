"""How to set what is advised where a host is a container."""

import pytest

from flowsweep.tuning.advise import SystemSetting, how_to_set
from flowsweep.tuning.places import Place

CONGESTION = "net.ipv4.tcp_congestion_control"
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
HOSTS = {"a": {"sysctls": {ALLOWED: "reno cubic"}}}
SETTING = SystemSetting("a", CONGESTION, "bbr", "cubic", "It gained.")


def place(launch: str, *, seen_as_namespace: bool | None = None) -> Place:
    return Place("box", tuple(launch.split()), seen_as_namespace)


@pytest.mark.parametrize(
    "launch", ["docker exec -i box", "ssh far podman exec -i box", "kubectl exec -i pod --"]
)
def test_what_a_container_shares_with_its_machine_is_set_there(launch: str) -> None:
    """Docker refuses `--sysctl net.*` with `--network host`; in a privileged container the machine is set."""
    (one,) = how_to_set([SETTING], {"a": place(launch, seen_as_namespace=False)}, HOSTS)
    assert one.place.has_file
    assert one.how.startswith(
        f"reached by `{launch}`, a container that shares its machine's network: these settings are the "
        "machine's, and count for all of it. On that machine, add to /etc/sysctl.d/99-zz-flowsweep.conf as "
        "root, "
    )
    assert ALLOWED not in one.how
    assert one.text.splitlines()[-1] == f"{CONGESTION} = bbr"


@pytest.mark.parametrize("seen_as_namespace", [True, None])
def test_a_container_with_a_network_of_its_own_has_commands(*, seen_as_namespace: bool | None) -> None:
    """So has one whose engine told no settings."""
    (one,) = how_to_set(
        [SETTING], {"a": place("docker exec -i box", seen_as_namespace=seen_as_namespace)}, HOSTS
    )
    assert not one.place.has_file
    assert "a container: it shows these settings read-only" in one.how
    assert one.how.endswith(f'allowed on its machine first: `sysctl -w {ALLOWED}="reno cubic bbr"`')
    assert one.text.splitlines()[-1] == f"docker exec -i box sysctl -w {CONGESTION}=bbr"
