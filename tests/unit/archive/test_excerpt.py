"""A few trials of an archive as an archive of their own."""

from pathlib import Path

from analysis_support import make_campaign
from flowsweep.archive import create_archive, read_archive
from flowsweep.serve.summarise import excerpt
from flowsweep.serve.trials import trials_between
from flowsweep.serve.watch import Watched


def test_a_trial_that_lies_in_two_merged_files_keeps_all_of_its_rows(tmp_path: Path) -> None:
    """A file ends after so many rows, whichever trial has them."""
    folder = tmp_path / "archive"
    outcomes = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        for outcome in outcomes:
            writer.finished(outcome)
        writer.compact(rows_per_file=7)
    assert len(list((folder / "merged").rglob("samples-*.parquet"))) > len(outcomes)
    watched = Watched(0, folder)
    watched.read_on(lambda *_: None)
    trials = trials_between(watched, 0, 2e10)
    whole = read_archive(folder).tables()
    with excerpt(watched.folder, watched.follower, watched.model, trials, tmp_path / "excerpt") as archive:
        part = archive.tables()
        for name in ("samples", "flows"):
            expected = getattr(whole, name).trial_id.value_counts().to_pyarrow().to_pylist()
            found = getattr(part, name).trial_id.value_counts().to_pyarrow().to_pylist()
            assert sorted(map(tuple, map(dict.values, found))) == sorted(
                map(tuple, map(dict.values, expected))
            )
