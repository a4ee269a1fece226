"""What a service decides: which plans it takes, in which archives they go on, when it merges or stops."""

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from flowsweep.archive import open_archive_for_writing
from flowsweep.campaigns.folders import folder_name, last_folder, open_or_begin
from flowsweep.campaigns.housekeeping import PART_TRIALS, PART_TRIALS_OF_A_DAY, Housekeeping
from flowsweep.campaigns.notify import Notifier, hand_on_the_socket
from flowsweep.campaigns.plans import load_plans, refuse_what_needs_a_start
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan import Plan, parse_plan

HOSTS = '[hosts.{0}]\naddress = "192.0.2.1"\n[hosts.{1}]\naddress = "192.0.2.{2}"\n'


def text(name: str = "mesh", *, every: str = "5min", hosts: tuple[str, str, int] = ("a", "b", 2)) -> str:
    times = f'every = "{every}"\n' if every else ""
    sweep = f'[[sweep]]\npaths = [{{ from = "{hosts[0]}", to = "{hosts[1]}" }}]\nduration = "5s"\n'
    return f'[campaign]\nname = "{name}"\n{times}{HOSTS.format(*hosts)}{sweep}'


def plan(name: str = "mesh", every: str = "5min") -> Plan:
    return parse_plan(text(name, every=every), "plan.toml")


@pytest.mark.parametrize(
    ("name", "folder"),
    [("mesh", "mesh"), ("my mesh: a/b", "my-mesh-a-b"), ("../up", "up"), ("…", "campaign")],
)
def test_a_folder_has_the_name_of_its_campaign_and_stays_where_it_is(name: str, folder: str) -> None:
    assert folder_name(plan(name)) == folder


def test_a_plan_goes_on_where_it_was_and_another_one_begins_anew(tmp_path: Path) -> None:
    with open_or_begin(tmp_path, plan()) as writer:
        assert writer.folder == tmp_path / "mesh"
        seed = writer.seed
        with pytest.raises(ArchiveError, match="another flowsweep is writing"):
            open_or_begin(tmp_path, plan())
    with open_or_begin(tmp_path, plan()) as writer:
        assert (writer.folder, writer.seed) == (tmp_path / "mesh", seed)
    with open_or_begin(tmp_path, plan(every="10min")) as writer:
        assert writer.folder == tmp_path / "mesh-2"
    with open_or_begin(tmp_path, plan()) as writer:
        assert writer.folder == tmp_path / "mesh-3"
    assert last_folder(tmp_path, plan()) == (tmp_path / "mesh-3", 3)
    (tmp_path / "mesh-10").mkdir()
    (tmp_path / "mesh-x").mkdir()
    assert last_folder(tmp_path, plan()) == (tmp_path / "mesh-10", 10)


@pytest.mark.parametrize("left", [[], ["journal"], ["journal", "campaign.json.tmp"]])
@pytest.mark.parametrize("number", [1, 2])
def test_an_archive_of_which_a_power_cut_left_the_beginning_is_begun(
    tmp_path: Path, number: int, left: list[str]
) -> None:
    if number == 2:
        open_or_begin(tmp_path, plan(every="10min")).close()
    folder = tmp_path / ("mesh" if number == 1 else "mesh-2")
    folder.mkdir()
    for name in left:
        (folder / name).write_text('{"format":' if name.endswith(".tmp") else "", encoding="utf-8")
    with open_or_begin(tmp_path, plan()) as writer:
        assert (writer.folder, writer.finished_count) == (folder, 0)
    with open_or_begin(tmp_path, plan()) as writer:
        assert writer.folder == folder


def test_an_archive_whose_first_file_is_gone_is_none_that_is_begun(tmp_path: Path) -> None:
    (tmp_path / "mesh").mkdir()
    (tmp_path / "mesh" / "journal").write_text("records", encoding="utf-8")
    with pytest.raises(ArchiveError, match=r"mesh: not an archive: the folder holds journal, expected"):
        open_or_begin(tmp_path, plan())


def written(folder: Path, **texts: str) -> list[Path]:
    for name, content in texts.items():
        (folder / f"{name}.toml").write_text(content, encoding="utf-8")
    return [folder]


def test_plans_of_a_folder_are_taken_together(tmp_path: Path) -> None:
    places = written(tmp_path, one=text("one"), two=text("two", hosts=("c", "d", 4)))
    with pytest.raises(PlanError, match=r"both measure at 192\.0\.2\.1, and would disturb each other"):
        load_plans(places)
    other = text("two", hosts=("c", "d", 4)).replace("192.0.2.1", "192.0.2.3")
    assert [one.campaign.name for one in load_plans(written(tmp_path, two=other)).values()] == ["one", "two"]
    with pytest.raises(PlanError, match="have the same, one: expected a name for each"):
        load_plans(written(tmp_path, two=other.replace('"two"', '"one"')))
    with pytest.raises(PlanError, match=r"campaign\.every: missing, expected times"):
        load_plans(written(tmp_path, two=text("two", every="")))
    with pytest.raises(PlanError, match="no plan: expected files, or folders"):
        load_plans([tmp_path / "nothing-in-it"] if (tmp_path / "nothing-in-it").mkdir() is None else [])


NO_ADDRESS = """
[campaign]
name = "{name}"
every = "5min"
[hosts.probe]
launch = {launch}
listens = false
[hosts.{sink}]
address = "{address}"
[[sweep]]
paths = [{{ from = "probe", to = "{sink}" }}]
duration = "5s"
"""


@pytest.mark.parametrize(
    ("launch", "shared"),
    [
        (('["ssh", "north"]', '["ssh", "south"]'), None),
        (('["ssh", "north"]', '["ssh", "north"]'), "`ssh north`"),
        (("[]", "[]"), "localhost"),
    ],
)
def test_hosts_without_an_address_are_what_starts_their_engines(
    tmp_path: Path, launch: tuple[str, str], shared: str | None
) -> None:
    first = NO_ADDRESS.format(name="one", launch=launch[0], sink="a", address="192.0.2.1")
    second = NO_ADDRESS.format(name="two", launch=launch[1], sink="b", address="192.0.2.2")
    places = written(tmp_path, one=first, two=second.replace("probe", "other") if shared else second)
    if shared is None:
        assert len(load_plans(places)) == 2
    else:
        with pytest.raises(PlanError, match=f"both measure at {shared}, and would disturb each other"):
            load_plans(places)


class Writer:
    """An archive that is merged in no time."""

    def __init__(self, folder: Path, loose: int, attempts: int, size: int) -> None:
        self.folder, self.loose_attempts, self.attempts_with_data, self.size = folder, loose, attempts, size
        self.merged = self.parts = 0
        self.part_begun_at = datetime(2027, 1, 30, 12, tzinfo=UTC)
        self.monitor_files = SimpleNamespace(merge=lambda: None)

    def begin_part(self) -> None:
        self.parts += 1

    def data_bytes(self) -> int:
        return self.size

    def compact(self) -> None:
        self.merged += 1
        self.loose_attempts = 0


@pytest.mark.parametrize(
    ("loose", "attempts", "size", "left_s", "merges"),
    [
        (500, 500, 1 << 20, 61, True),
        (499, 499, 1 << 20, 61, False),  # not worth it
        (500, 3000, 1 << 20, 61, False),  # all of it would be written again for few
        (500, 500, 1 << 20, 59, False),  # something is due soon
        (500, 500, 1 << 30, 61, False),  # it may take longer than there is time
        (500, 500, 1 << 30, 300, True),
    ],
)
def test_files_are_merged_where_there_are_many_and_time(
    tmp_path: Path, *, loose: int, attempts: int, size: int, left_s: int, merges: bool
) -> None:
    writer = Writer(tmp_path, loose, attempts, size)
    now = writer.part_begun_at
    keeping = Housekeeping(writer, free_bytes_min=0, told=print, now=lambda: now)  # type: ignore[arg-type]
    keeping.idle(left_s * SECOND_NS)
    assert writer.merged == merges


@pytest.mark.parametrize(
    ("attempts", "day", "left_s", "begins"),
    [
        (PART_TRIALS, 30, 61, True),
        (PART_TRIALS - 1, 30, 61, False),
        (PART_TRIALS, 30, 59, False),  # merging comes first, and there is no time for it
        (2 * PART_TRIALS, 30, 59, True),  # that is too many to wait for it
        (PART_TRIALS_OF_A_DAY, 31, 61, True),
        (PART_TRIALS_OF_A_DAY - 1, 31, 61, False),
    ],
)
def test_a_part_ends_with_a_day_or_with_many_trials(
    tmp_path: Path, *, attempts: int, day: int, left_s: int, begins: bool
) -> None:
    writer = Writer(tmp_path, 7, attempts, 1 << 20)
    now = datetime(2027, 1, day, 1, tzinfo=UTC)
    keeping = Housekeeping(writer, free_bytes_min=0, told=print, now=lambda: now)  # type: ignore[arg-type]
    keeping.idle(left_s * SECOND_NS)
    assert writer.parts == begins


def test_nothing_runs_and_nothing_is_merged_on_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 500, 500, 1 << 20)
    full = Housekeeping(writer, free_bytes_min=1 << 60, told=print)  # type: ignore[arg-type]
    full.idle(3600 * SECOND_NS)
    assert writer.merged == 0
    assert "the disk is nearly full (" in (full.refuses() or "")
    assert Housekeeping(writer, free_bytes_min=1, told=print).refuses() is None  # type: ignore[arg-type]


def test_files_that_found_no_time_for_a_day_get_some_once_a_day(tmp_path: Path) -> None:
    """Something is due every minute, and merging takes longer than that; the clock may be set meanwhile."""
    writer = Writer(tmp_path, 500, 500, 1 << 30)
    house, machine = kept(writer)
    merged_at = []
    for minute in range(3 * 24 * 60):
        machine.passed_s = 60 * minute
        machine.stepped = timedelta(days=400) if 500 < minute < 600 else timedelta()
        house.idle(0 if house.holds(0) else 58 * SECOND_NS)
        if writer.loose_attempts == 0:
            merged_at.append(minute)
            writer.loose_attempts = 500
    assert merged_at == [24 * 60, 48 * 60]


def test_where_there_was_time_for_all_of_it_nothing_is_refused(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 500, 500, 1 << 30)
    house, machine = kept(writer)
    for hour in range(100):
        machine.passed_s = 3600 * hour
        house.idle(300 * SECOND_NS)
        assert not house.holds(1)
        writer.loose_attempts = 500
    assert writer.merged == 100


@pytest.mark.parametrize(
    ("loose", "size", "free_bytes_min"),
    [
        (10, 1 << 20, 0),  # few files
        (500, 1 << 40, 0),  # so many bytes that no turn suffices
        (500, 1 << 20, 1 << 60),  # no room for a second copy
    ],
)
def test_where_a_turn_would_get_nothing_done_nothing_waits_for_it(
    tmp_path: Path, loose: int, size: int, free_bytes_min: int
) -> None:
    """What runs may go on for days, without any time between."""
    house, machine = kept(Writer(tmp_path, loose, 500, size), free_bytes_min)
    for hour in range(100):
        machine.passed_s = 3600 * hour
        assert not house.holds(0)


def test_what_is_due_waits_for_no_longer_than_a_turn_where_what_runs_does_not_end(tmp_path: Path) -> None:
    house, machine = kept(Writer(tmp_path, 500, 500, 1 << 20))
    held = []
    for minute in range(3 * 24 * 60):
        machine.passed_s = 60 * minute
        if house.holds(1):
            held.append(minute)
    assert held == [*range(1440, 1450), *range(2890, 2900)]


def test_what_is_due_waits_where_nothing_runs_any_more_however_long_that_took(tmp_path: Path) -> None:
    """What was held is over by then: the time is there, and is taken."""
    house, machine = kept(writer := Writer(tmp_path, 500, 500, 1 << 20))
    machine.passed_s = 24 * 3600
    assert house.holds(1)
    machine.passed_s += 900
    assert house.holds(0)
    house.idle(0)
    assert writer.merged == 1
    assert not house.holds(0)


class Machine:
    """Tells the time, and how long it has been running."""

    passed_s = 0.0
    stepped = timedelta()

    def __init__(self, begun: datetime) -> None:
        self._begun = begun

    def now(self) -> datetime:
        return self._begun + timedelta(seconds=self.passed_s) + self.stepped


def kept(writer: Writer, free_bytes_min: int = 0) -> tuple[Housekeeping, Machine]:
    machine = Machine(writer.part_begun_at)
    times = {"now": machine.now, "running_s": lambda: machine.passed_s}
    return Housekeeping(writer, free_bytes_min, print, **times), machine  # type: ignore[arg-type]


def test_a_disk_that_does_not_take_it_is_told_and_hurts_nothing(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 500, 500, 1 << 20)

    def fails() -> None:
        raise ArchiveError("the disk is full")

    writer.compact = fails  # type: ignore[method-assign]
    told: list[str] = []
    housekeeping = Housekeeping(writer, free_bytes_min=0, told=told.append)  # type: ignore[arg-type]
    housekeeping.idle(3600 * SECOND_NS)
    housekeeping.idle(3600 * SECOND_NS)
    assert told == ["its files are not merged: the disk is full"]


def test_a_real_archive_says_what_there_is_to_merge(tmp_path: Path) -> None:
    with open_or_begin(tmp_path, plan()):
        pass
    with open_archive_for_writing(tmp_path / "mesh") as writer:
        assert (writer.loose_attempts, writer.attempts_with_data, writer.data_bytes()) == (0, 0, 0)


def test_the_service_manager_is_told_from_where_its_socket_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user namespace has a /run of its own; the path leads nowhere there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.delenv("FLOWSWEEP_NOTIFY_FD", raising=False)
        hand_on_the_socket()
        assert os.get_inheritable(int(os.environ["FLOWSWEEP_NOTIFY_FD"]))
        (tmp_path / "notify").unlink()
        notifier = Notifier()
        assert "FLOWSWEEP_NOTIFY_FD" not in os.environ
        notifier.tell("READY=1")
        assert manager.recv(100) == b"READY=1"


def test_emulated_and_real_links_need_root_in_one_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulated = (
        '[campaign]\nname = "two"\nevery = "5min"\n[lab.links.wan]\nbetween = ["left", "right"]\n'
        '[[sweep]]\npaths = [{ from = "left", to = "right" }]\nduration = "5s"\n'
    )
    both = written(tmp_path, one=text("one"), two=emulated)
    monkeypatch.setattr("flowsweep.campaigns.plans.may_administer_networks", lambda: True)
    assert len(load_plans(both)) == 2
    monkeypatch.setattr("flowsweep.campaigns.plans.may_administer_networks", lambda: False)
    with pytest.raises(PlanError, match="expected a service for each, or root"):
        load_plans(both)
    (tmp_path / "one.toml").unlink()
    plans = load_plans(both)
    assert len(plans) == 1
    with pytest.raises(PlanError, match="as the service began without any: start it anew"):
        refuse_what_needs_a_start(plans)
    monkeypatch.setattr("flowsweep.campaigns.plans.may_administer_networks", lambda: True)
    refuse_what_needs_a_start(plans)


def test_a_service_that_began_with_emulated_links_without_root_takes_no_other_hosts_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in a network namespace for good, where each trial between them would fail."""
    (tmp_path / "real").mkdir()
    (tmp_path / "local").mkdir()
    real = load_plans(written(tmp_path / "real", one=text("one")))
    here = text("two").replace(HOSTS.format("a", "b", 2), "[hosts.a]\n[hosts.b]\n")
    local = load_plans(written(tmp_path / "local", two=here))
    refuse_what_needs_a_start(real)
    monkeypatch.setattr("flowsweep.campaigns.plans.in_user_namespace", lambda: True)
    refuse_what_needs_a_start(local)
    with pytest.raises(PlanError, match="not reached, as without root the service began with emulated"):
        refuse_what_needs_a_start(real)


def test_the_service_manager_is_told_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Notifier().tell("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        Notifier().tell("READY=1", "STATUS=2 campaigns")
        assert manager.recv(100) == b"READY=1\nSTATUS=2 campaigns"
    Notifier().tell("WATCHDOG=1")  # nobody is there any more
    assert Notifier().watchdog_s is None
    monkeypatch.setenv("WATCHDOG_USEC", "60000000")
    assert Notifier().watchdog_s == 30
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert Notifier().watchdog_s is None
