"""A thousand reads by commands, beside campaigns of short trials that end and merge their files.

What is found goes to docs/truth/archive.md.
"""

import json
from collections import Counter
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result
from typer.testing import CliRunner

from archive_damage import campaigns_without_end
from flowsweep.cli import load
from flowsweep.cli.app import app

READS = 1000


def test_no_read_fails_and_no_trial_is_told_twice(tmp_path: Path) -> None:
    load([])
    folder, report = tmp_path / "campaigns", tmp_path / "report.html"
    folder.mkdir()
    commands = (("summary", "--format", "json"), ("findings",), ("report", "-o", str(report)))
    counts: Counter[str] = Counter()
    with campaigns_without_end(folder) as newest:
        for number in range(READS):
            name, *options = commands[number % len(commands)]
            result = CliRunner().invoke(app, [name, str(newest()), *options])
            assert result.exit_code == 0, (number, result.output, result.exception)
            assert "warning:" not in result.stderr, (number, result.stderr)
            if name == "summary":
                trials = Counter(row["trial_id"] for row in json.loads(result.stdout))
                assert not trials or max(trials.values()) == 1, number
            counts[name] += 1
        campaigns = int(newest().name)
    rows = [(name, count, "none failed, warned or showed a trial twice") for name, count in counts.items()]
    result = {"reads": dict(counts), "campaigns": campaigns}
    write_result("archive-reads", "Reads beside campaigns that end and merge", result)
    fill_table(NOTES / "archive.md", "reads", table(("command", "reads", "what held for all"), rows))
