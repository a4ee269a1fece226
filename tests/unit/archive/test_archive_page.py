"""What docs/reference/archive.md has others type reads what it says: all parts, and last attempts alone."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis_support import make_campaign
from flowsweep.archive import create_archive, read_archive
from plan_support import ROOT

PAGE = (ROOT / "docs" / "reference" / "archive.md").read_text(encoding="utf-8")
AT = datetime(2027, 1, 30, tzinfo=UTC)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], int]:
    """Bytes by trial and flow of a campaign in two parts, one of whose trials ran again in each."""
    campaign = make_campaign(flows=(1, 2), window_sums=(1 << 18,), repeats=2)
    monkeypatch.chdir(tmp_path)
    with create_archive(Path("campaign"), plan_json="{}", seed=1) as writer:
        for number, outcome in enumerate(campaign):
            trial = outcome.record.trial_id
            if number == 2:
                writer.compact()
                writer.begin_part()
            if number % 2:
                broken = outcome.record.model_copy(update={"status": "incomplete"})
                writer.started(trial, 1, AT)
                writer.finished(replace(outcome, record=broken))
            attempt = 1 + number % 2
            writer.started(trial, attempt, AT)
            writer.finished(replace(outcome, record=outcome.record.model_copy(update={"attempt": attempt})))
        writer.compact()
    with read_archive(Path("campaign")) as archive:
        rows = archive.tables().samples.to_pyarrow().to_pylist()
    assert {row["attempt"] for row in rows} == {1, 2}
    return bytes_of_sinks(rows)


def bytes_of_sinks(rows: list[dict[str, Any]]) -> dict[tuple[str, int], int]:
    total: Counter[tuple[str, int]] = Counter()
    for row in rows:
        if row["role"] == "sink":
            total[row["trial_id"], row["flow"]] += row["bytes"]
    return dict(total)


def test_what_duckdb_alone_is_asked_is_of_last_attempts_of_all_parts(
    there: dict[tuple[str, int], int],
) -> None:
    [query] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    assert sorted(duckdb.execute(query).fetchall()) == sorted((*of, total) for of, total in there.items())


def test_what_pandas_alone_reads_is_of_last_attempts_of_all_parts(there: dict[tuple[str, int], int]) -> None:
    [program] = re.findall(r"```python\n([^`]*?import pandas\n.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    assert bytes_of_sinks(names["samples"].to_dict("records")) == there
