"""What is loaded before a command can begin, and what at all: a row for each command."""

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from analysis_support import make_campaign, write_archive
from flowsweep.archive import read_archive
from flowsweep.cli import COMMANDS, load
from flowsweep.cli.app import app
from flowsweep.cli.summary_rows import rows_at_end
from long_tests import long_but_for

pytestmark = pytest.mark.whole

NEVER = ("pandas", "statsmodels", "pyspark")
FIGURES = ("plotly", "jinja2", "flowsweep.figures.drawing", "flowsweep.report.report_data")
STATISTICS = ("scipy.stats", "scipy.signal")
ANALYSIS = ("ibis", "sqlglot", "scipy", "flowsweep.analysis.expressions", "flowsweep.archive.tables")
DATABASE = ("duckdb",)
TABLES = ("pyarrow", "numpy")
ARRAYS = ("numpy",)
TRAFFIC = ("flowsweep.run.conductor", "flowsweep.hosts.session")
HELP = ("rich.markdown", "markdown_it", "pygments", "rich.traceback")
PLANS = ("flowsweep.plan.model", "flowsweep.archive")
FILES = ("ssl", "pyarrow.fs", "pyarrow.parquet", "flowsweep.archive.entries")
SERVER = ("starlette", "uvicorn", "prometheus_client")
CALCULATION = ("pyarrow.compute", "pyarrow.acero", "flowsweep.hosts.messages")
ALL = (
    CALCULATION,
    SERVER,
    NEVER,
    HELP,
    STATISTICS,
    FIGURES,
    ANALYSIS,
    DATABASE,
    TABLES,
    TRAFFIC,
    PLANS,
    FILES,
)

PLAN = """
[campaign]
name = "start"
[hosts.left]
engine = "/nowhere/engine"
[hosts.right]
engine = "/nowhere/engine"
[[sweep]]
name = "s"
paths = [{ from = "left", to = "right" }]
duration = "3s"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an archive and a plan, whose engines are not there."""
    folder = tmp_path_factory.mktemp("start")
    for archive in ("archive", "kept"):
        write_archive(folder / archive, make_campaign(flows=(1,), window_sums=(1 << 18,)))
    with read_archive(folder / "kept") as kept:
        rows_at_end(kept)
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    (folder / "results.csv").write_text("from,to,bandwidth\na,b,1000000\n", encoding="utf-8")
    return folder


def loaded_by(folder: Path, words: Sequence[str], *, exit_code: int = 0) -> set[str]:
    """What of `ALL` a command has loaded at its end, in a process of its own."""
    names = {name for group in ALL for name in group}
    script = f"""
import sys
from flowsweep.cli import main
code = 0
try:
    main()
except SystemExit as end:
    code = end.code or 0
assert code == {exit_code}, code
print("loaded", *({names!r} & set(sys.modules)))
"""
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "leaked" not in done.stderr, "of what is not collected at the end"
    return set(done.stdout.splitlines()[-1].split()[1:])


# What may be loaded is everything but the groups of each row.
NOTHING = ALL
NO_TABLES = (NEVER, HELP, STATISTICS, FIGURES, ANALYSIS, DATABASE, TABLES)
NO_ANALYSIS = (NEVER, HELP, STATISTICS, FIGURES, ANALYSIS, DATABASE)
ONE_TRIAL = (*NO_ANALYSIS, ARRAYS, FILES)
ONLY_TABLES = (NEVER, HELP, STATISTICS, FIGURES)
ROWS = {
    "": (NOTHING, "--help", 0),
    "version": (NOTHING, "--version", 0),
    "wrong": (NOTHING, "sumary archive", 2),
    "demo": (NO_ANALYSIS, "demo --help", 0),
    "tcp": (ONE_TRIAL, "tcp exec:/nowhere/program --address 127.0.0.1", 2),
    "udp": (ONE_TRIAL, "udp exec:/nowhere/program --address 127.0.0.1", 2),
    "rtt": (ONE_TRIAL, "rtt exec:/nowhere/program --address 127.0.0.1", 2),
    "path": (ONE_TRIAL, "path exec:/nowhere/program --address 127.0.0.1", 2),
    "quic": (ONE_TRIAL, "quic exec:/nowhere/program --address 127.0.0.1", 2),
    "file": (ONE_TRIAL, "file exec:/nowhere/program --address 127.0.0.1", 2),
    "mptcp": (ONE_TRIAL, "mptcp exec:/nowhere/program --address 127.0.0.1", 2),
    "tune": ((*NO_ANALYSIS, ARRAYS), "tune exec:/nowhere/program --address 127.0.0.1", 2),
    "check": ((*NO_TABLES, TRAFFIC), "check plan.toml", 2),
    "predict": (
        (NEVER, HELP, STATISTICS, FIGURES, ANALYSIS, DATABASE, TRAFFIC, ("pyarrow",)),
        "predict plan.toml",
        0,
    ),
    "check --predict": (
        (NEVER, HELP, STATISTICS, FIGURES, ANALYSIS, DATABASE, TRAFFIC, ("pyarrow",)),
        "check --predict plan.toml",
        2,
    ),
    "run": ((*NO_ANALYSIS, ARRAYS), "run plan.toml --archive new", 2),
    "service": ((*NO_ANALYSIS, ARRAYS), "service plan.toml --archive new", 2),
    "status": ((*NO_ANALYSIS, ARRAYS, ("flowsweep.run.conductor",)), "status archive", 2),
    "alarms": (NO_ANALYSIS, "alarms archive", 2),
    "serve": (
        (NEVER, HELP, STATISTICS, FIGURES, ANALYSIS, DATABASE, TABLES, TRAFFIC, SERVER),
        "serve --help",
        0,
    ),
    "note": ((*NO_TABLES, TRAFFIC, SERVER), "note archive upgraded", 0),
    "summary": ((*ONLY_TABLES, ANALYSIS, ARRAYS), "summary archive", 0),
    "summary that was kept": (
        (*ONLY_TABLES, ANALYSIS, ARRAYS, DATABASE, CALCULATION, TRAFFIC),
        "summary kept",
        0,
    ),
    "findings": ((NEVER, FIGURES), "findings archive", 0),
    "report": ((NEVER,), "report archive -o report.html", 0),
    "compare": ((NEVER, FIGURES), "compare archive archive", 2),
    "import": (NO_ANALYSIS, "import results.csv --archive taken", 0),
    "export": (ONLY_TABLES, "export archive --format xlsx -o tables.xlsx", 0),
    "verify": ((*NO_ANALYSIS, ARRAYS), "verify archive", 0),
}


@pytest.mark.parametrize("name", long_but_for("tcp", "check", "run", "status", "summary", "report", of=ROWS))
def test_what_a_command_does_without(name: str, folder: Path) -> None:
    without, words, exit_code = ROWS[name]
    loaded = loaded_by(folder, words.split(), exit_code=exit_code)
    assert not loaded & {name for group in without for name in group}


def test_every_command_has_a_row() -> None:
    assert COMMANDS.keys() <= ROWS.keys()


@pytest.mark.long
def test_names_that_must_not_be_loaded_exist(folder: Path) -> None:
    assert loaded_by(folder, ["report", "archive", "-o", "again.html"]) >= {*FIGURES, *ANALYSIS, *TABLES}
    assert [name for group in ALL for name in group if find_spec(name) is None] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_what_they_say_themselves(command: str) -> None:
    load([command])
    loaded = vars(get_command(app))["commands"][command]
    assert loaded.name == command
    assert COMMANDS[command] == " ".join(inspect.cleandoc(loaded.help).split("\n\n")[0].split())


def test_commands_have_the_names_of_the_list() -> None:
    for command in COMMANDS:
        load([command])
    assert list(vars(get_command(app))["commands"]) == list(COMMANDS)


PACKAGES = ("flowsweep.analysis", "flowsweep.analysis.tests.path", "flowsweep.archive", "flowsweep.plan")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_on_demand_are_those_that_type_checkers_see(package: str) -> None:
    module = import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (late,) = (node for node in tree.body if isinstance(node, ast.If))
    for statement in late.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert getattr(module, alias.name) is getattr(import_module(str(statement.module)), alias.name)
    assert all(hasattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_what_is_put_off_is_there_when_it_is_used() -> None:
    script = """
import sys
from flowsweep.cli.deferred_imports import parts_of_rich_put_off
with parts_of_rich_put_off():
    from rich.markdown import Markdown
    from rich.traceback import Traceback
    assert "markdown_it" not in sys.modules
    assert type(Markdown("*text*")).__module__ == "rich.markdown"
    Traceback.from_exception(ValueError, ValueError("wrong"), None)
import rich.markdown, rich.traceback
assert rich.markdown.MarkdownContext and rich.traceback.install
print("whole")
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "whole", done.stderr


@pytest.mark.parametrize("words", [["--help"], ["tcp", "--help"], ["chek"]])
def test_help_and_errors_look_as_typer_writes_them(words: list[str]) -> None:
    """Beside what all of Rich makes of it."""
    written = []
    for before in ("", "import rich.markdown, rich.traceback; "):
        script = before + "from flowsweep.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, timeout=60
        )
        written.append((done.returncode, done.stdout, done.stderr))
    assert written[0] == written[1]
    assert "Usage" in written[0][1] + written[0][2]


def test_the_package_loads_nothing_before_a_campaign_is_opened() -> None:
    script = "import sys, flowsweep; print(*{'ibis', 'typer', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""


def test_the_answer_of_one_trial_needs_neither_ibis_nor_numpy() -> None:
    support = Path(__file__).parents[2] / "support"
    script = f"""
import sys
from flowsweep.cli.unneeded_imports import load_arrow_alone, without
load_arrow_alone(["compute"])
sys.path.append({str(support)!r})
with without("pandas"):
    from analysis_support import make_outcome, make_trial
    from flowsweep.cli.summary_rows import row_of_outcomes
    outcome = make_outcome(make_trial())
    before = set(sys.modules)
    assert row_of_outcomes([outcome])["status"] == "ok"
print("loaded", *({{"ibis", "sqlglot", "numpy", "scipy"}} & (set(sys.modules) - before)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["loaded"], done.stdout + done.stderr


@pytest.mark.parametrize(("asked", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_one_thread_computes_unless_somebody_asks_for_more(asked: dict[str, str], threads: str) -> None:
    script = """
import os
from contextlib import suppress
from flowsweep.cli import main
with suppress(SystemExit):
    main()
import numpy
numpy.linalg.svd(numpy.eye(300))
print(len(os.listdir("/proc/self/task")))
"""
    command = [sys.executable, "-c", script, "--version"]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        command, env=environment | asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.splitlines()[-1] == threads, done.stdout + done.stderr


def test_sums_over_flows_need_no_tls() -> None:
    script = """
import sys
from flowsweep.cli.unneeded_imports import load_arrow_alone, load_without_tls
load_arrow_alone(["compute"])
load_without_tls()
import asyncio, pyarrow
from flowsweep.archive.sampled_flows import with_sampled
ends = pyarrow.table({"role": ["sink"], "flow": [0]})
samples = ends.append_column("start_ns", [[1]]).append_column("end_ns", [[3]]).append_column("bytes", [[5]])
print(with_sampled(ends, samples)["sampled_ns"].to_pylist(), {"ssl", "pyarrow.fs"} & set(sys.modules))
import ssl, pyarrow.parquet, pyarrow.dataset
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[2]", "set()"]
