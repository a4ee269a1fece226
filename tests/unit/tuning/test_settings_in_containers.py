"""How to set what is advised where a host is a container."""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.hosts.ssh import ssh_call
from flowsweep.tuning.advise import SystemSetting, how_to_set
from flowsweep.tuning.answer import Answer, answer, as_json
from flowsweep.tuning.places import Means, Place
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.words import sentences
from tuned_paths import ENDS, PATHS, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

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


def told(places: dict[str, Place], *, loaded: dict[str, str], machine: bool) -> Answer:
    """Eight flows with bbr gain from b to a, of which only reno and cubic are allowed to everybody."""
    made = [
        tried(way, setting, 1e8 * (4 if setting != TODAY and way == Way.back else 1), PATHS[0], block=block)
        for way in Way
        for block in range(3)
        for setting in (TODAY, Setting(8, congestion="bbr"))
    ]
    sysctls = {ALLOWED: "reno cubic", **({"net.core.netdev_max_backlog": "1000"} if machine else {})}
    made = [replace(one, row=cast("TrialRow", {**one.row, "congestion": "cubic"})) for one in made]
    hosts: dict[str, dict[str, Any]] = {
        host: {"sysctls": sysctls, "congestion_available": loaded[host].split()} for host in "ab"
    }
    return answer(
        made,
        rtt_ms=20.0,
        hosts=hosts,
        ends=ENDS,
        hosts_text="",
        spent=(1.0, 1),
        places={"b": Place("b"), **places},
    )


@pytest.mark.parametrize(
    ("launch", "machine", "where"),
    [
        ("", True, "there"),
        ("ssh far", True, "there"),
        ("", False, "on its machine"),
        ("docker exec -i box", True, "on its machine"),
        ("ip netns exec box", False, "on its machine"),
    ],
)
def test_modules_are_loaded_on_machines(launch: str, where: str, *, machine: bool) -> None:
    """Root of a container can load none."""
    places = {"a": place(launch, seen_as_namespace=not machine)}
    found = told(places, loaded={"a": "reno cubic", "b": "reno cubic bbr"}, machine=machine)
    out, back = found.directions
    assert list(sentences(out))[-1] == (
        f"bbr was not tried: it is not loaded on box (`modprobe tcp_bbr` as root {where})."
    )
    assert any(f"(`modprobe tcp_bbr` as root {where})" in note for note in back.tools[0].notes)


@pytest.mark.parametrize(
    ("launch", "machine", "where"),
    [
        ("ssh far", True, "on box"),
        ("docker exec -i box", True, "on the machine that `box` is a container of"),
        ("docker exec -i box", False, "on the machine that `box` is a network namespace of"),
    ],
)
def test_congestion_controls_are_allowed_to_everybody_on_machines(
    launch: str, where: str, *, machine: bool
) -> None:
    places = {"a": place(launch, seen_as_namespace=not machine)}
    found = told(places, loaded=dict.fromkeys("ab", "reno cubic bbr"), machine=machine)
    allow = f'`sysctl -w {ALLOWED}="reno cubic bbr"`'
    assert any(note.endswith(f"and {allow} {where}") for note in found.directions[1].tools[0].notes)


WINDOWS = SystemSetting("a", "net.ipv4.tcp_rmem", "4096 131072 2097152", "4096 131072 500000", "Computed.")
OPTIONS = ["--sysctl 'net.ipv4.tcp_rmem=4096 131072 2097152'", f"--sysctl {CONGESTION}=bbr"]
LINES = ["net.ipv4.tcp_rmem=4096 131072 2097152", f"{CONGESTION}=bbr"]
FAR_OPTIONS = [f"--sysctl {shlex.quote(shlex.quote(LINES[0]))}", OPTIONS[1]]


@pytest.mark.parametrize(
    ("launch", "lines", "said"),
    [
        ("docker run --rm -i image", OPTIONS, "Add this to its options."),
        ("podman --log-level error run -i image", OPTIONS, "Add this to its options."),
        ("ssh far podman --log-level error run -i image", FAR_OPTIONS, "Add this to its options."),
        ("docker -D run -i --name exec image", OPTIONS, "Add this to its options."),
        ("docker compose run service", LINES, "`sysctls` of a compose file"),
        ("docker-compose run service", LINES, "`sysctls` of a compose file"),
        ("kubectl run box -i --image image --", LINES, "a pod's securityContext.sysctls"),
    ],
)
def test_a_container_that_is_started_anew_is_started_with_its_settings(
    launch: str, lines: list[str], said: str
) -> None:
    """A command behind its launcher would act on another one, which then ends."""
    (one,) = how_to_set([WINDOWS, SETTING], {"a": place(launch, seen_as_namespace=True)}, HOSTS)
    assert not one.place.has_file
    assert one.how.startswith(
        f"reached by `{launch}`, which starts a new container each time, so that no command lasts. "
    )
    assert said in one.how
    assert one.how.endswith(f'allowed on its machine first: `sysctl -w {ALLOWED}="reno cubic bbr"`')
    assert [line for line in one.text.splitlines() if not line.startswith("#")] == lines


@pytest.mark.parametrize("before", ["", "ip netns exec far "])
def test_one_that_shares_its_machines_network_has_the_settings_of_that(before: str) -> None:
    """Also where a launcher goes into a namespace before: what starts containers need not be in it."""
    launch = f"{before}docker run --network host -i image"
    (one,) = how_to_set([SETTING], {"a": place(launch, seen_as_namespace=False)}, HOSTS)
    assert one.place.has_file
    assert "On that machine, add to" in one.how
    assert ALLOWED not in one.how
    assert one.text.splitlines()[-1] == f"{CONGESTION} = bbr"


@pytest.mark.parametrize(
    ("launch", "starts"),
    [
        ("docker-compose run -T service", True),
        ("podman-compose run service", True),
        ("docker-compose exec -T service", False),
        ("docker exec -i run", False),
        ("kubectl -n run exec -i pod --", False),
        ("oc rsh run", False),
        ("nerdctl run image exec", True),
        ("docker --tls exec -i box run", False),
        ("docker -D run -i image exec", True),
        ("docker --host=tcp://far exec -i box run", False),
        ("podman --remote run -i image exec x", True),
        ("kubectl --insecure-skip-tls-verify exec -i run --", False),
        ("kubectl --context run exec -i pod --", False),
    ],
)
def test_a_launcher_that_starts_a_container_is_known(launch: str, *, starts: bool) -> None:
    assert place(launch).enters_container
    assert place(launch).starts_container is starts


@pytest.mark.parametrize(
    "launch",
    [
        "docker run -i image",
        "ssh far docker run -i image",
        "ssh gate ssh far docker run -i image",
        "ssh far 'docker run -i image'",
        "ssh docker 'docker run -i image'",
        "ssh gate 'ssh far docker run -i image'",
        "ssh gate ssh far 'docker run -i image'",
        "ssh gate \"ssh far 'docker run -i image'\"",
    ],
)
def test_an_option_reaches_the_launcher_in_one_piece(launch: str) -> None:
    """The words of a launcher are taken apart once where they are written, and by a shell behind each ssh."""
    (one,) = how_to_set([WINDOWS], {"a": Place("box", tuple(shlex.split(launch)), seen_as_namespace=True)})
    assert one.place.means is Means.run_options
    written = shlex.join(shlex.split(launch))
    words = shlex.split(written.replace(" run", f" run {one.text.splitlines()[-1]}"))
    while (call := ssh_call(words)) is not None:
        words = call.command
    assert list(words[1:4]) == ["run", "--sysctl", "net.ipv4.tcp_rmem=4096 131072 2097152"]


@pytest.mark.parametrize(
    ("launch", "machine", "key", "line"),
    [
        ("", True, "sysctl_d", f"{CONGESTION} = bbr"),
        ("docker exec -i box", True, "machine_sysctl_d", f"{CONGESTION} = bbr"),
        ("docker exec -i box", False, "commands", f"docker exec -i box sysctl -w {CONGESTION}=bbr"),
        ("docker run -i image", False, "run_options", f"--sysctl {CONGESTION}=bbr"),
        ("kubectl run box -i --", False, "start_settings", f"{CONGESTION}=bbr"),
        ("docker run --net host -i image", False, "commands_elsewhere", f"sysctl -w {CONGESTION}=bbr"),
    ],
)
def test_json_has_each_way_to_set_by_a_name_of_its_own(
    launch: str, key: str, line: str, *, machine: bool
) -> None:
    """A program may run commands, and write a host's own file; it can do neither with an option."""
    places = {"a": place(launch, seen_as_namespace=not machine)}
    found = told(places, loaded=dict.fromkeys("ab", "reno cubic bbr"), machine=machine)
    found = replace(found, how=how_to_set([SETTING], places, HOSTS))
    told_json = as_json(found)
    assert [name for name in Means if told_json[name]] == [key]
    assert told_json[key]["a"].splitlines()[-1] == line
    assert told_json["how"] == {"a": found.how[0].how}
