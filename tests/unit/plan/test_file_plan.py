"""A sweep of files: its keys, and what engines are told."""

import pytest

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS, SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.hosts.access import HostAccess
from flowsweep.plan import parse_plan
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import expand
from flowsweep.schedule.tests.file import FileParameters
from plan_support import ROOT

HOSTS = """
[lab.links.wan]
between = ["left", "right"]
[hosts.left]
folder = "/data/left"
[hosts.right]
folder = "/data/right"
"""
SWEEP = """
[[sweep]]
test = "file"
paths = [{ from = "left", to = "right" }]
"""
MIB = 1 << 20


def parameters_of(more: str = "") -> list[FileParameters]:
    points = expand(parse_plan(HOSTS + SWEEP + more, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, FileParameters)]


def access(folder: str) -> HostAccess:
    return HostAccess(name="host", launch=(), engine=None, addresses={}, folder=folder)


def test_the_name_of_the_test_and_folders_are_enough() -> None:
    (asked,) = parameters_of()
    assert (asked.file_size_bytes, asked.files, asked.part, asked.cache, asked.sync) == (
        256 * MIB, 1, "whole", "dropped", "file",
    )  # fmt: skip
    assert (asked.duration_ns, asked.pad_ns, asked.expected_bins) == (60 * SECOND_NS, 0, 0)


def test_keys_reach_the_engine() -> None:
    more = """
    flows = 2
    file_size = ["64MiB", "1GiB"]
    files = 8
    part = "read"
    cache = "direct"
    sync = "none"
    content = "zeros"
    verify = "stored"
    sendfile = false
    congestion = "reno"
    length = "1MiB"
    """
    asked, _ = parameters_of(more)
    told = settings_of(asked, "source", asked.pad_ns, access("/data/left")).model_dump()
    named = {name: told[name] for name in ("folder", "files", "file_bytes", "part", "cache", "sync")}
    assert named == {
        "folder": "/data/left", "files": 8, "file_bytes": 64 * MIB, "part": "read", "cache": "direct",
        "sync": "none",
    }  # fmt: skip
    assert (told["content"], told["verify"], told["existing"], told["sendfile"]) == (
        "zeros",
        "stored",
        None,
        False,
    )
    tcp = told["tcp"]
    assert (tcp["flows"], tcp["length_bytes"], tcp["congestion"], tcp["mode"]) == (2, MIB, "reno", "copy")
    assert (tcp["pad_us"], tcp["rate_bps"]) == (0, None)
    assert tcp["silence_timeout_us"] >= tcp["drain_timeout_us"]


def test_a_kernel_that_sends_is_an_axis_and_needs_the_page_cache() -> None:
    copied, sent = parameters_of('sendfile = [false, true]\nverify = "none"')
    told = [
        settings_of(asked, "source", 0, access("/data")).model_dump()["sendfile"] for asked in (copied, sent)
    ]
    assert told == [False, True]
    assert "sendfile" not in copied.model_dump()
    with pytest.raises(PlanError, match='sendfile: found together with cache = "direct"'):
        parameters_of('sendfile = true\ncache = "direct"')


def test_both_ends_wait_for_files_that_are_made_before_they_meet() -> None:
    asked, alone = parameters_of('file_size = "1GiB"\npart = ["whole", "write"]')
    making_ns = (1 << 30) * SECOND_NS // 20_000_000
    assert asked.connect_ns == CONNECT_TIMEOUT_NS + making_ns
    assert alone.connect_ns == CONNECT_TIMEOUT_NS
    told = settings_of(asked, "sink", 0).model_dump()
    assert told["tcp"]["connect_timeout_us"] == asked.connect_ns // MICROSECOND_NS


def test_no_end_is_asked_to_wait_for_longer_than_an_engine_does() -> None:
    longest, beyond = parameters_of('file_size = "1TiB"\nfiles = [12, 16384]')
    assert longest.connect_ns == beyond.connect_ns == 7 * 24 * 3600 * SECOND_NS
    code = (ROOT / "engine/traffic/src/defaults.rs").read_text(encoding="utf-8")
    assert "TIME_MAX: Duration = Duration::from_secs(7 * 24 * 3600);" in code


def test_files_that_are_there_are_read_at_the_source() -> None:
    (asked,) = parameters_of('read = "/data/recordings"')
    source, sink = (settings_of(asked, role, 0).model_dump() for role in ("source", "sink"))
    assert (source["existing"], sink["existing"]) == ("/data/recordings", None)
    assert (asked.files, asked.file_size_bytes, asked.job_bytes) == (None, None, None)
    assert asked.connect_ns == CONNECT_TIMEOUT_NS


def test_parts_are_modes_and_keep_trials_apart() -> None:
    asked = parameters_of('part = ["whole", "read", "network", "write"]')
    assert [one.mode for one in asked] == ["whole", "read", "network", "write"]


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ('cache = "direct"\nlength = "1000B"', "expected a multiple of 4KiB"),
        ('read = "/data"\nfile_size = "1MiB"', "found together with `read`"),
        ('read = "/data"\ncontent = "zeros"', "found together with `read`"),
        ('read = "/data"\ndirections = "both"', 'expected "one"'),
        ('read = "data"', "expected an absolute path"),
        ('rate = "1Mbit/s"', "has no effect"),
        ('mode = "zerocopy"', "has no effect"),
        ('omit = "1s"', "has no effect"),
        ('part = "middle"', 'expected "whole"'),
    ],
)
def test_what_files_have_not_is_refused(key: str, problem: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(HOSTS + SWEEP + key, "plan.toml")
    assert problem in str(caught.value)


def test_a_folder_that_is_missing_is_named_with_its_host() -> None:
    hosts = HOSTS.replace('folder = "/data/right"', "")
    with pytest.raises(PlanError) as caught:
        parse_plan(hosts + SWEEP, "plan.toml")
    assert "hosts.right.folder: missing: write a folder of that host" in str(caught.value)


def test_a_folder_has_no_say_in_other_sweeps() -> None:
    other = SWEEP.replace('test = "file"', 'test = "tcp"')
    assert parse_plan(HOSTS + other, "plan.toml").hosts[0].folder == "/data/left"


def test_files_do_not_run_beside_other_trials() -> None:
    beside = SWEEP.replace('test = "file"', "") + '[[sweep.background]]\nname = "x"\ntest = "file"\n'
    with pytest.raises(PlanError) as caught:
        parse_plan(HOSTS + beside, "plan.toml")
    assert "background[0].test" in str(caught.value)


def test_background_may_start_as_long_as_files_may_take_if_the_plan_does_not_say() -> None:
    beside = SWEEP + '[[sweep.background]]\nname = "late"\nstart = '
    parse_plan(f'{HOSTS}{beside}"59s"\n', "plan.toml")
    with pytest.raises(PlanError, match='found "60s", expected less than the duration'):
        parse_plan(f'{HOSTS}{beside}"60s"\n', "plan.toml")


def test_space_is_what_the_source_makes_and_the_sink_writes() -> None:
    parts = parameters_of('part = ["whole", "read", "network", "write"]\nfile_size = "1MiB"\nfiles = 3')
    both, nothing = 3 * MIB, 0
    assert [one.space_bytes for one in parts] == [
        (both, both), (both, nothing), (nothing, nothing), (nothing, both),
    ]  # fmt: skip
    (there,) = parameters_of('read = "/data"')
    assert there.space_bytes == (0, None)


def test_hosts_that_are_looked_at_make_one_block() -> None:
    (asked,) = parameters_of('cache = "direct"\nfiles = 9\nflows = 4')
    plain = asked.plain()
    assert (plain.flows, plain.files, plain.file_size_bytes, plain.cache) == (1, 1, 4096, "direct")
