"""What `--save` leaves behind: an archive like any other, made by real engines here, or nothing."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from campaign_support import flowsweep, flowsweep_here
from flowsweep.archive import read_archive
from long_tests import long_but_for
from witness import judged

pytestmark = pytest.mark.whole

COMMAND = (sys.executable, "-m", "flowsweep")
BRIEF = {
    "tcp": ("--duration", "400ms"),
    "udp": ("--duration", "400ms"),
    "rtt": ("--duration", "300ms", "--echo", "udp"),
    "path": ("--set", "sweep.probes=2", "--set", "sweep.trains=3", "--set", "sweep.streams=0"),
}


@pytest.mark.parametrize("test", long_but_for("tcp", of=BRIEF))
def test_what_was_measured_is_kept_as_an_archive(test: str, tmp_path: Path) -> None:
    folder = tmp_path / "an archive"
    told = json.loads(flowsweep_here(test, "local", "--json", "--save", folder, *BRIEF[test]))
    (row,) = json.loads(flowsweep_here("summary", folder, "--format", "json"))
    assert {name: row[name] for name in told if name in row} == told | {"started_at": row["started_at"]}
    assert row["status"] == "ok"
    flowsweep_here("findings", folder)
    flowsweep_here("verify", folder)
    archive = read_archive(folder)
    assert not archive.losses
    assert set(archive.host_facts) == {"here", "there"}


def test_a_report_is_made_of_it(tmp_path: Path) -> None:
    page = tmp_path / "report.html"

    def measure(attempt: int) -> tuple[Path, str]:
        folder = tmp_path / f"archive-{attempt}"
        return folder, flowsweep_here("rtt", "local", "--save", folder, "--duration", "1200ms")

    def check(measured: tuple[Path, str]) -> None:
        # A hundred of 64 B in a second; a machine that is held up leaves some out.
        assert re.search(r"^   1\.\d s  [56]\.\d\d KB of probes sent$", measured[1], re.MULTILINE)

    folder, said = judged(measure, check, bears_s=0.1)
    (row,) = json.loads(flowsweep_here("summary", folder, "--format", "json"))
    assert f"\nprobes                {row['rtt_probes']} of 64 B, every 10 ms" in said
    sent_kb = re.findall(r"^   1\.\d s  (\d\.\d\d) KB of probes sent$", said, re.MULTILINE)
    assert float(sent_kb[-1]) <= 1.01 * row["rtt_probes"] * row["length_bytes"] / 1000
    summary, next_step = said.split("\n\narchive: ")
    assert next_step == f"{folder}\nnext: flowsweep report {folder} -o report.html\n"
    assert summary.splitlines()[-1].startswith("limited by ")
    flowsweep_here("report", folder, "-o", page)
    assert page.stat().st_size > 100_000


@pytest.mark.parametrize("content", ["campaign.json", "notes.txt", None])
def test_a_folder_that_is_in_use_is_refused_before_anything_is_started(
    content: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "taken"
    if content is None:
        folder.write_text("a file", encoding="utf-8")
    else:
        folder.mkdir()
        (folder / content).write_text("mine", encoding="utf-8")
    words = [*COMMAND, "rtt", "exec:/nowhere/launcher", "--address", "127.0.0.1", "--save", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("error:") == 1
    assert "choose a folder that is empty or not there yet" in done.stderr
    assert "launcher" not in done.stderr
    if content is not None:
        assert [path.name for path in folder.iterdir()] == [content]


def test_a_host_that_cannot_be_had_leaves_no_archive(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    flowsweep("tcp", "exec:/nowhere/launcher", "--address", "127.0.0.1", "--save", folder, expect=2)
    assert not folder.exists()


def test_a_trial_that_fails_is_kept_as_a_fact(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    said = flowsweep_here("tcp", "local", "--window", "1GB", "--save", folder, expect=1)
    *_, limited, blank, archive, next_step = said.splitlines()
    assert limited == "limited by            not known: the trial failed"
    assert (blank, archive) == ("", f"archive: {folder}")
    assert next_step == f"next: flowsweep report {folder} -o report.html"
    (row,) = json.loads(flowsweep_here("summary", folder, "--format", "json"))
    assert (row["status"], row["failure_kind"]) == ("failed", "window_clipped")


def test_a_running_trial_has_an_archive_that_can_be_read_and_an_interrupted_one_none(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    words = [*COMMAND, "udp", "local", "--duration", "30s", "--save", str(folder)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    told = iter(running.stdout.readline, "")
    assert any(re.match(r" +\d+\.\d s  ", line) for line in told), "no interval was told"
    archive = read_archive(folder)
    assert not archive.losses
    assert (list(archive.state.attempts.values()), dict(archive.records)) == ([1], {})
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=30)
    assert running.returncode == 130
    assert complaint.endswith("interrupted; nothing kept\n")
    assert not folder.exists(), "it would be in the way of the same command"
