import asyncio
import os
import random
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fake_engine import access, greeting
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts import engine, engine_copy, opening
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.hosts.engine_copy import copy_command, copy_engine, platform_without_engine
from flowsweep.hosts.of_plan import accesses_of, shares_files
from flowsweep.hosts.opening import engine_command, open_session
from flowsweep.plan import parse_plan


def remote(*prefix: str) -> HostAccess:
    return replace(access("far", launch=prefix), shares_files=False)


@pytest.fixture
def local_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine of this installation that greets and waits: a shell script."""
    path = tmp_path / "flowsweep-engine"
    words = tmp_path / "greeting"
    words.write_bytes(greeting())
    path.write_text(f"#!/bin/sh\ncat {words}\ncat > /dev/null\n")
    path.chmod(0o755)
    for module in (opening, engine_copy):
        monkeypatch.setattr(module, "engine_path", lambda: path)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is home on the far host."""
    folder = tmp_path / "far home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def copies(home: Path) -> list[Path]:
    return sorted(home.glob(".cache/flowsweep/*"))


def test_the_engine_of_this_machine_runs_where_files_are_shared(local_engine: Path) -> None:
    assert engine_command(access("a")) == (str(local_engine), "agent")
    assert engine_command(access("a", launch=("ip", "netns", "exec", "x"))) == (
        "ip", "netns", "exec", "x", str(local_engine), "agent",
    )  # fmt: skip


def test_an_engine_that_the_plan_names_is_used_as_it_is() -> None:
    named = replace(remote("kubectl", "exec", "-i", "pod", "--"), engine="/opt/flowsweep-engine")
    assert engine_command(named) == (
        "kubectl", "exec", "-i", "pod", "--", "/opt/flowsweep-engine", "agent",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "shares"),
    [
        ("", True),
        ("ip netns exec left", True),
        ("timeout 1h taskset -c 3", True),
        ("sudo docker exec -i box", False),
        ("srun -w node", False),
        ("nsenter -t 1 -m", False),
        ("sudo unshare --root=/srv/box", False),
        ("sudo -R /srv/box", False),
        ("sudo --chroot=/srv/box", False),
        ("sudo -n", True),
        ("a-launcher-nobody-knows", False),
    ],
)
def test_files_are_shared_only_where_that_is_sure(prefix: str, *, shares: bool) -> None:
    assert shares_files(prefix.split()) == shares


def test_the_engine_is_copied_once_and_whole(local_engine: Path, home: Path) -> None:
    async def talk() -> None:
        for _ in range(2):
            session = await open_session(remote("env"))
            await session.close()

    asyncio.run(talk())
    (copy,) = copies(home)
    assert copy.name == f"engine-{engine.engine_hash(local_engine)}"
    assert copy.read_bytes() == local_engine.read_bytes()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700


SSH_FAILS = (
    "#!/bin/sh\necho 'ssh: Could not resolve hostname far: Name or service not known.' >&2\nexit 255\n"
)


def test_where_ssh_fails_the_error_says_what_to_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text(SSH_FAILS)
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SessionError) as caught:
        asyncio.run(open_session(remote("ssh", "far")))
    assert str(caught.value) == (
        "host far: the session ended (exit status 255); it said: ssh: Could not resolve hostname far: Name "
        "or service not known; see that `ssh far true` works here without a question"
    )
    with pytest.raises(SessionError) as caught:
        asyncio.run(open_session(remote("sh", "-c", "exit 255")))
    assert str(caught.value) == "host far: the session ended (exit status 255)"


def test_where_ssh_fails_without_a_word_what_it_started_may_have_been_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\nexit 255\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SessionError, match=r"\(exit status 255\); what was started there .* kernel log$"):
        asyncio.run(open_session(remote("ssh", "far")))


def test_a_launcher_that_waits_for_an_answer_is_to_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    greet = opening.Session.greet
    monkeypatch.setattr(opening.Session, "greet", lambda session: greet(session, 0.1))
    with pytest.raises(SessionError) as caught:
        asyncio.run(open_session(remote("sh", "-c", "sleep 60")))
    assert caught.value.advice == "see that `sh -c 'sleep 60' true` works here without a question"


def test_a_copy_that_may_not_be_run_is_not_said_to_be_missing(local_engine: Path, home: Path) -> None:
    noexec = '"$@"; status=$?; chmod -x "$HOME"/.cache/flowsweep/engine-* 2>/dev/null; exit $status'
    with pytest.raises(LaunchError) as caught:
        asyncio.run(open_session(remote("sh", "-c", noexec, "-")))
    assert len(copies(home)) == 1
    assert "may not be run there, as on a file system that is mounted noexec" in str(caught.value)
    assert 'name its path, `engine = "…"` in [hosts.far]' in str(caught.value)


def broken(copy: Path, how: str) -> None:
    content = bytearray(copy.read_bytes())
    if how == "cut":
        del content[-1:]
    elif how == "empty":
        content.clear()
    else:
        content[-2] ^= 1
    copy.write_bytes(content)


@pytest.mark.parametrize("how", ["cut", "empty", "one bit"])
@pytest.mark.parametrize("tool", ["sha256sum", "cksum"])
def test_a_broken_copy_is_found_out_and_repaired(
    local_engine: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, tool: str
) -> None:
    if tool == "cksum":
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in ("cat", "chmod", "cksum", "env", "mkdir", "mv", "rm", "sh", "sync", "uname", "wc"):
            (tools / name).symlink_to(str(shutil.which(name)))
        monkeypatch.setenv("PATH", str(tools))
        assert shutil.which("sha256sum") is None

    async def visit() -> None:
        await (await open_session(remote("env"))).close()

    asyncio.run(visit())
    (copy,) = copies(home)
    broken(copy, how)
    asyncio.run(visit())
    assert copies(home) == [copy]
    assert copy.read_bytes() == local_engine.read_bytes()
    before = copy.stat().st_ino
    asyncio.run(visit())
    assert copy.stat().st_ino == before, "a whole copy stays"


@pytest.mark.parametrize("size", [0, 1, 255, 256, 70_000])
def test_the_sum_is_the_one_that_posix_has(size: int) -> None:
    content = random.Random(size).randbytes(size)
    told = subprocess.run(["cksum"], input=content, capture_output=True, check=True).stdout.split()
    assert engine.cksum(content) == int(told[0])


def test_the_copy_is_on_the_disk_before_it_has_its_name(local_engine: Path) -> None:
    script = copy_command(remote("env"), local_engine)[-1]
    assert script.index("sync -d") < script.index("mv -f")


def test_the_second_session_copies_nothing(
    local_engine: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def session_twice() -> None:
        await (await open_session(remote("env"))).close()
        monkeypatch.setattr("flowsweep.hosts.opening.copy_engine", None)
        await (await open_session(remote("env"))).close()

    asyncio.run(session_twice())
    assert len(copies(home)) == 1


def test_a_copy_that_is_cut_off_leaves_nothing(local_engine: Path, home: Path) -> None:
    cut = ("sh", "-c", 'head -c 10 | "$@"', "-")
    platform = f"{os.uname().sysname} {os.uname().machine}"
    with pytest.raises(LaunchError, match=r"copying the engine there failed.*did not arrive whole"):
        asyncio.run(copy_engine(remote(*cut), platform))
    assert copies(home) == []


def test_an_engine_is_not_copied_to_another_kind_of_machine(local_engine: Path) -> None:
    with pytest.raises(LaunchError, match=r"it is Linux riscv64, .* install an engine there"):
        asyncio.run(copy_engine(remote("env"), "Linux riscv64"))


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A far host on which `uname -s -m` says that it is of another kind than this machine."""
    tools = tmp_path / "pretended"
    tools.mkdir()
    (tools / "uname").write_text("#!/bin/sh\necho Linux elsewhere64\n")
    (tools / "uname").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


@pytest.fixture
def other_engine(tmp_path: Path, local_engine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine for that kind, installed beside this machine's own, which nobody may start there."""
    path = tmp_path / "other-engine"
    path.write_text(local_engine.read_text() + "# for another kind of machine\n")
    local_engine.write_text("#!/bin/sh\nexit 126\n")
    monkeypatch.setattr(engine_copy, "engines_beside", lambda: {"Linux elsewhere64": path})
    return path


def test_a_host_of_another_kind_gets_the_engine_for_it(
    other_engine: Path, home: Path, pretended: None
) -> None:
    async def talk() -> None:
        for _ in range(2):
            await (await open_session(remote("env"))).close()

    asyncio.run(talk())
    (copy,) = copies(home)
    assert copy.read_bytes() == other_engine.read_bytes()


def test_hosts_of_two_kinds_share_a_home_folder(
    other_engine: Path, local_engine: Path, home: Path, pretended: None
) -> None:
    asyncio.run(copy_engine(remote("env"), f"{os.uname().sysname} {os.uname().machine}"))
    own = home / ".cache" / "flowsweep" / f"engine-{engine.engine_hash(local_engine)}"
    assert copies(home) == [own]

    async def talk() -> None:
        await (await open_session(remote("env"))).close()

    asyncio.run(talk())
    assert len(copies(home)) == 2


def test_a_missing_engine_for_another_kind_is_named(local_engine: Path) -> None:
    other = next(machine for machine in engine.MACHINES if machine != os.uname().machine)
    with pytest.raises(LaunchError) as caught:
        asyncio.run(copy_engine(remote("env"), f"Linux {other}"))
    assert f"it is Linux {other}, " in str(caught.value)
    assert (
        f"install here the wheel that `make wheels` builds, `pip install dist/flowsweep_engine_{other}-*.whl`"
        in (str(caught.value))
    )


def test_without_an_own_engine_those_beside_it_serve(
    other_engine: Path, home: Path, pretended: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise LaunchError("this machine", "no engine")

    monkeypatch.setattr(engine_copy, "engine_path", none)

    async def talk() -> None:
        await (await open_session(remote("env"))).close()

    asyncio.run(talk())
    assert len(copies(home)) == 1


def test_engines_beside_are_found_by_their_distributions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "flowsweep_engine_aarch64" / "flowsweep-engine"
    program.parent.mkdir()
    program.write_bytes(b"an engine")
    facts = tmp_path / "flowsweep_engine_aarch64-0.1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: flowsweep-engine-aarch64\nVersion: 0.1.0\n")
    (facts / "RECORD").write_text("flowsweep_engine_aarch64/flowsweep-engine,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert engine.engines_beside() == {"Linux aarch64": program}


def test_the_platform_is_found_among_other_words() -> None:
    complaint = "Warning: new key\nflowsweep: no engine here yet, this is Linux aarch64\nbye"
    assert platform_without_engine(complaint) == "Linux aarch64"
    assert platform_without_engine("sh: not found") is None


def test_a_missing_engine_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_of_distribution", lambda name: None)
    monkeypatch.setattr(engine.sys, "executable", "/no/such/python")
    monkeypatch.setenv("PATH", "/no/such/folder")
    with pytest.raises(LaunchError) as caught:
        engine.engine_path()
    assert "`pip install dist/flowsweep_engine-*_$(uname -m).whl`" in str(caught.value)


def test_hosts_of_a_plan() -> None:
    plan = parse_plan(
        """
        [hosts.near]
        address = "192.0.2.1"
        [hosts.far]
        launch = ["ssh", "far"]
        address = "far.example.org"
        data_address = "2001:db8::1"
        ports = "5300-5400"
        listens = false
        [[sweep]]
        test = "tcp"
        paths = [{ from = "near", to = "far" }]
        duration = "4s"
        """,
        "plan.toml",
    )
    hosts = accesses_of(plan.hosts)
    assert hosts["near"].addresses == {"far": (DataAddress("192.0.2.1", 4),)}
    assert hosts["near"].shares_files
    assert hosts["far"].addresses == {"near": (DataAddress("2001:db8::1", 6),)}
    assert (hosts["far"].ports, hosts["far"].listens) == ((5300, 5400), False)
    assert not hosts["far"].shares_files


def test_hosts_of_which_nothing_is_said_are_on_loopback() -> None:
    plan = parse_plan(
        '[hosts.a]\n[hosts.b]\n[[sweep]]\npaths = [{ from = "a", to = "b" }]\nduration = "4s"', "plan.toml"
    )
    assert accesses_of(plan.hosts)["b"].addresses["a"] == (DataAddress("127.0.0.1", 4), DataAddress("::1", 6))
