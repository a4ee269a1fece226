"""Files of iperf3, Flent, nuttcp and pScheduler: what each tool says in its own summary, to the digit."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flowsweep.archive import Tables, read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import importing
from summary_support import summary_rows

FILES = Path(__file__).parent / "imported"
Row = dict[str, Any]

load(["import"])


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("import") / "archive"
    tools = ("iperf3", "nuttcp", "flent", "pscheduler")
    files = [str(path) for path in sorted(FILES.iterdir()) if path.name.startswith(tools)]
    result = CliRunner().invoke(app, ["import", *files, "--archive", str(folder)])
    assert result.exit_code == 1, result.output  # one of the files tells of a test that failed
    return read_archive(folder).tables()


@pytest.fixture(scope="module")
def summed(tables: Tables) -> list[Row]:
    return summary_rows(tables)


def rows_of(summed: list[Row], name: str) -> list[Row]:
    """Those of a file."""
    return [row for row in summed if row["imported_from"].endswith(f" {name}")]


def flows_of(tables: Tables, summed: list[Row], name: str) -> list[Row]:
    """Both ends of each flow of a file: sinks, then sources."""
    [trial] = rows_of(summed, name)
    flows = tables.flows.filter(tables.flows.trial_id == trial["trial_id"])
    return flows.order_by("role", "flow").to_pyarrow().to_pylist()


def ends_of_iperf3(name: str) -> dict[str, Any]:
    text = (FILES / name).read_text(encoding="utf-8")
    if not text.startswith('{"event"'):
        return json.loads(text)["end"]
    events = [json.loads(line) for line in text.splitlines() if line.startswith('{"event"')]
    return next(event["data"] for event in events if event["event"] == "end")


@pytest.mark.parametrize(
    "name",
    [
        "iperf3-3.12-tcp-client.json",
        "iperf3-3.12-reverse-client.json",
        "iperf3-3.12-bidir-client.json",
        "iperf3-3.12-udp-client.json",
        "iperf3-3.12-udpreverse-client.json",
        "iperf3-3.21-stream-client.json",
        "iperf3-3.21-bidirstream-client.json",
        "iperf3-3.21-udpstream-client.json",
    ],
)
def test_a_client_of_iperf3_knows_both_ends(summed: list[Row], name: str) -> None:
    end = ends_of_iperf3(name)
    rows = rows_of(summed, name)
    assert len(rows) == (2 if "bidir" in name else 1)
    for row, way in zip(rows, ("", "_bidir_reverse"), strict=False):
        sent, received = end[f"sum_sent{way}"], end[f"sum_received{way}"]
        assert (row["bytes_sent"], row["bytes"]) == (sent["bytes"], received["bytes"])
        assert row["retransmits"] in (None, sent.get("retransmits"))
        if row["goodput_method"] == "receiver_mean":
            assert row["goodput_bps"] == row["goodput_mean_bps"] == received["bits_per_second"]
        else:
            assert row["goodput_method"] == "receiver_median"
            assert row["goodput_mean_bps"] == pytest.approx(received["bits_per_second"], rel=0.04)
            assert row["coverage"] == 1.0


def test_a_server_of_iperf3_knows_its_own_end(summed: list[Row]) -> None:
    [received] = rows_of(summed, "iperf3-3.12-tcp-server.json")
    assert received["bytes"] == ends_of_iperf3("iperf3-3.12-tcp-server.json")["sum_received"]["bytes"]
    assert (received["bytes_sent"], received["goodput_method"]) == (None, "receiver_median")
    [sent] = rows_of(summed, "iperf3-3.12-reverse-server.json")
    end = ends_of_iperf3("iperf3-3.12-reverse-server.json")["sum_sent"]
    assert (sent["bytes"], sent["bytes_sent"], sent["retransmits"]) == (
        None,
        end["bytes"],
        end["retransmits"],
    )
    assert (sent["src"], sent["dst"]) == ("10.77.0.2", "10.77.0.1")
    assert (sent["goodput_method"], sent["goodput_bps"]) == ("sender_mean", end["bits_per_second"])
    [streamed] = rows_of(summed, "iperf3-3.21-stream-server.json")
    assert streamed["bytes"] == ends_of_iperf3("iperf3-3.21-stream-server.json")["sum_received"]["bytes"]


def test_what_iperf3_was_asked_for_is_kept(summed: list[Row]) -> None:
    [row] = rows_of(summed, "iperf3-3.12-tcp-client.json")
    expected = {
        "src": "10.77.0.1", "dst": "10.77.0.2", "test": "tcp", "flows": 2, "window_bytes": 131_072,
        "window_sum_bytes": 262_144, "length_bytes": 32_768, "congestion": "cubic", "duration_s": 4.0,
        "omit_s": 1.0, "started_at": "2026-11-22T00:47:47.000Z", "simultaneous": False,
        "window_granted_send_bytes": 262_144, "window_granted_recv_bytes": 262_144, "interval_s": 1.0,
        "imported_from": "iperf3-json iperf3-3.12-tcp-client.json", "rate_bps": None,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_both_directions_at_once_are_two_trials(summed: list[Row]) -> None:
    there, back = rows_of(summed, "iperf3-3.12-bidir-client.json")
    assert [(row["src"], row["dst"], row["simultaneous"], row["congestion"]) for row in (there, back)] == [
        ("10.77.0.1", "10.77.0.2", True, "reno"), ("10.77.0.2", "10.77.0.1", True, "reno"),
    ]  # fmt: skip


def test_datagrams_of_iperf3(tables: Tables, summed: list[Row]) -> None:
    """Of a client that received, which has with --get-server-output what the server says, too."""
    end = ends_of_iperf3("iperf3-3.21-udp-client.json")
    flows = flows_of(tables, summed, "iperf3-3.21-udp-client.json")
    sinks, sources = flows[:2], flows[2:]
    assert [row["udp_datagrams"] for row in sources] == [
        stream["udp"]["packets"] for stream in end["streams"]
    ]
    came = end["sum_received"]["packets"] - end["sum_received"]["lost_packets"]
    assert sum(row["udp_datagrams"] for row in sinks) == came
    assert [row["udp_jitter_ns"] for row in sinks] == [
        round(stream["udp"]["jitter_ms"] * 1e6) for stream in end["streams"]
    ]
    [row] = rows_of(summed, "iperf3-3.21-udp-client.json")
    of_trial = tables.datagrams.filter(tables.datagrams.trial_id == row["trial_id"])
    missing = of_trial.filter(of_trial.role == "sink").missing.sum().to_pyarrow().as_py()
    assert missing == end["sum_received"]["lost_packets"]
    assert (row["test"], row["rate_bps"], row["length_bytes"]) == ("udp", 60_000_000, 1_000)
    sent = sum(stream["udp"]["packets"] for stream in end["streams"])
    assert (row["datagrams_sent"], row["datagrams"], row["lost"]) == (sent, came, sent - came)


@pytest.mark.parametrize(
    ("name", "goodput_bps", "received", "sent", "flows"),
    [
        ("nuttcp-6.1.2-parse.txt", 48_179_100.0, 12.4904, None, 1),
        ("nuttcp-6.1.2-verbose.txt", 47_636_900.0, 12.4600, 12.4600, 1),
        ("nuttcp-6.1.2-verbose-receive.txt", 45_775_100.0, 16.8526, None, 2),
        ("nuttcp-6.1.2-udp-parse.txt", 47_138_900.0, 11.2402, None, 1),
        ("nuttcp-6.1.2-transmit.txt", None, 17.8125, None, 1),
        ("nuttcp-6.1.2-receive.txt", None, 15.6583, None, 1),
    ],
)
def test_what_nuttcp_prints(
    summed: list[Row],
    name: str,
    goodput_bps: float | None,
    received: float,
    sent: float | None,
    flows: int,
) -> None:
    [row] = rows_of(summed, name)
    assert row["bytes"] == round(received * (1 << 20))
    assert row["bytes_sent"] == (None if sent is None else round(sent * (1 << 20)))
    assert row["flows"] == flows
    if goodput_bps is None:
        assert (row["goodput_method"], row["interval_s"]) == ("receiver_median", 1.0)
    else:
        assert (row["goodput_method"], row["goodput_bps"]) == ("receiver_mean", goodput_bps)


def test_hosts_windows_and_datagrams_of_nuttcp(tables: Tables, summed: list[Row]) -> None:
    [verbose] = rows_of(summed, "nuttcp-6.1.2-verbose-receive.txt")
    expected = {
        "src": "10.77.0.2", "dst": "10.77.0.1", "length_bytes": 65_536, "duration_s": 3.0,
        "window_granted_send_bytes": 262_144, "window_granted_recv_bytes": 262_144, "window_bytes": None,
    }  # fmt: skip
    assert {name: verbose[name] for name in expected} == expected
    sink, source = flows_of(tables, summed, "nuttcp-6.1.2-verbose-udp.txt")
    assert (sink["udp_datagrams"], source["udp_datagrams"]) == (1_250, 1_250)
    [limited] = rows_of(summed, "nuttcp-6.1.2-verbose-udp.txt")
    assert (limited["rate_bps"], verbose["rate_bps"]) == (5_000_000, None)
    [sink] = flows_of(tables, summed, "nuttcp-6.1.2-udp-parse.txt")
    assert sink["udp_datagrams"] == 11_524 - 14


@pytest.mark.parametrize("test", ["tcp_upload", "tcp_download", "rrul"])
def test_flows_of_flent(summed: list[Row], test: str) -> None:
    """Flent's own summary has the mean of each series, and the sum of these."""
    name = f"flent-2.3.0-{test}.flent.gz"
    content = json.loads(gzip.decompress((FILES / name).read_bytes()))
    series = content["metadata"]["SERIES_META"]
    rows = rows_of(summed, name)
    assert len(rows) == (2 if test == "rrul" else 1)
    for row in rows:
        upload = row["src"] == content["metadata"]["LOCAL_HOST"]
        kind = "TCP upload" if upload else "TCP download"
        flows = [
            told for key, told in series.items() if key.startswith(kind) and "NetperfDemo" in told["RUNNER"]
        ]
        assert row["flows"] == len(flows) == (4 if test == "rrul" else 1)
        mean_bps = sum(told["MEAN_VALUE"] for told in flows) * 1e6
        if upload:
            assert (row["goodput_method"], row["goodput_bps"]) == ("sender_mean", pytest.approx(mean_bps))
            assert row["bytes_sent"] == sum(told["BYTES_SENT"] for told in flows)
        else:
            assert row["bytes"] == sum(told["BYTES_RECVD"] for told in flows)
            assert (row["goodput_method"], row["interval_s"]) == ("receiver_median", 0.2)
        assert (row["simultaneous"], row["duration_s"]) == (test == "rrul", 4.0)


def test_pings_of_flent(tables: Tables, summed: list[Row]) -> None:
    content = json.loads(gzip.decompress((FILES / "flent-2.3.0-tcp_upload.flent.gz").read_bytes()))
    pings = content["raw_values"]["Ping (ms) ICMP"]
    [trial] = rows_of(summed, "flent-2.3.0-tcp_upload.flent.gz")
    echoes = tables.echoes.filter(tables.echoes.trial_id == trial["trial_id"]).to_pyarrow().to_pylist()
    found = {row["sequence"]: row["rtt_ns"] for row in echoes if row["rtt_ns"]}
    assert found == {round(ping["seq"]): round(ping["val"] * 1e6) for ping in pings}


def record_of_pscheduler(name: str) -> tuple[Row, Row]:
    """The end of its result, and that of what iperf3 told its tool."""
    result = json.loads((FILES / name).read_text(encoding="utf-8"))["result"]
    said = result["diags"]
    told, _ = json.JSONDecoder().raw_decode(said, said.index("{"))
    return result["summary"]["summary"], told["end"]


def test_results_of_pscheduler(summed: list[Row]) -> None:
    [row] = rows_of(summed, "pscheduler-tcp.json")
    told, by_iperf3 = record_of_pscheduler("pscheduler-tcp.json")
    assert (row["goodput_method"], row["goodput_bps"]) == ("receiver_mean", told["receiver-throughput-bits"])
    assert row["goodput_bps"] == by_iperf3["sum_received"]["bits_per_second"]
    assert (row["bytes_sent"], row["bytes"], row["retransmits"]) == (
        told["throughput-bytes"], None, told["retransmits"],
    )  # fmt: skip
    assert row["bytes_sent"] == by_iperf3["sum_sent"]["bytes"]
    expected = {
        "src": "10.77.0.1", "dst": "10.77.0.2", "flows": 2, "window_bytes": 128_000, "length_bytes": 32_768,
        "congestion": "cubic", "duration_s": 4.0, "omit_s": 1.0, "started_at": "2026-11-22T07:54:55.000Z",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    [reverse] = rows_of(summed, "pscheduler-udpreverse.json")
    assert (reverse["src"], reverse["dst"], reverse["test"]) == ("10.77.0.2", "10.77.0.1", "udp")
    _, by_iperf3 = record_of_pscheduler("pscheduler-udpreverse.json")
    assert reverse["bytes_sent"] == by_iperf3["sum_sent"]["bytes"]
    assert reverse["goodput_bps"] == by_iperf3["sum_received"]["bits_per_second"]


def test_a_test_of_iperf3_that_failed_says_why(tmp_path: Path) -> None:
    file = FILES / "iperf3-3.21-refused-client.json"
    result = CliRunner().invoke(app, ["import", str(file), "--archive", str(tmp_path / "archive")])
    assert result.exit_code == 2
    assert f"{file}:1$.error: the test failed:" in result.output
    assert "Connection refused" in result.output


def test_a_folder_is_all_files_in_it_and_importing_it_again_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_AT_ONCE", 3)
    (tmp_path / "old" / "deeper").mkdir(parents=True)
    for number in range(8):
        text = (FILES / "iperf3-3.12-tcp-client.json").read_text(encoding="utf-8")
        folder = tmp_path / "old" / ("deeper" if number % 2 else "")
        (folder / f"{number}.json").write_text(text.replace("1795308467", f"179530{number}467", 1), "utf-8")
    (tmp_path / "old" / "notes.txt").write_text("hello\n", encoding="utf-8")
    arguments = ["import", str(tmp_path / "old"), "--archive", str(tmp_path / "archive")]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 1
    assert "8 trials imported from 8 files" in first.output
    assert f"{tmp_path / 'old' / 'notes.txt'}: of no kind that is known" in first.output
    tables = read_archive(tmp_path / "archive").tables()
    counts = [table.count().to_pyarrow().as_py() for table in (tables.trials, tables.flows, tables.samples)]
    # two flows, two ends; four intervals at the source, five at the sink
    assert counts == [8, 8 * 4, 8 * 2 * (4 + 5)]
    repeats = tables.trials.order_by("started_at").repeat.to_pyarrow().to_pylist()
    assert repeats == list(range(1, 9))
    again = CliRunner().invoke(app, arguments)
    assert "0 trials imported from 8 files, 8 were there already" in again.output


def test_importing_datagrams_of_every_kind_again_changes_nothing(tmp_path: Path) -> None:
    files = [path for path in sorted(FILES.iterdir()) if "udp" in path.name]
    arguments = ["import", *map(str, files), "--archive", str(tmp_path)]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    trials = read_archive(tmp_path).tables().trials
    sources = trials.imported_from.to_pyarrow().to_pylist()
    assert {source.split()[0] for source in sources} == {
        "iperf-csv", "iperf-text", "iperf3-json", "nuttcp", "pscheduler",
    }  # fmt: skip
    before = contents(tmp_path)
    again = CliRunner().invoke(app, arguments)
    assert again.output.startswith(
        f"0 trials imported from {len(files)} files, {len(sources)} were there already"
    )
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
