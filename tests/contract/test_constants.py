"""Constants that both the controller and the engine have: one value."""

import re
from pathlib import Path

import pytest

from flowsweep import defaults

ENGINE = Path(__file__).parents[2] / "engine"
SAME = (
    "BUFFERS_MAX_BYTES",
    "CROSS_PACKETS_PER_S_MAX",
    "CROSS_PACKET_MIN_BYTES",
    "FILES_MAX",
    "FILE_MAX_BYTES",
    "QUIC_DATAGRAM_MIN_BYTES",
    "QUIC_SEND_WINDOW_BYTES",
    "SPACE_FACTOR",
    "SUBFLOWS_MAX",
    "TRAIN_PACKETS_MAX",
)


def of_engine(name: str) -> list[int]:
    """Values of a constant in `defaults.rs` of any crate: "4096" or "1 << 30"."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in ENGINE.glob("*/src/**/defaults.rs"))
    found = re.findall(rf"^pub(?:\(crate\))? const {name}: \w+ = ([\d_]+)(?: << (\d+))?;", text, re.MULTILINE)
    return [int(value) << int(places or 0) for value, places in found]


@pytest.mark.parametrize("name", SAME)
def test_the_engine_has_the_same(name: str) -> None:
    assert set(of_engine(name)) == {getattr(defaults, name)}


def test_the_windows_of_quic_are_those_of_the_library() -> None:
    """quinn: of a stream, what 100 Mbit/s and 100 ms need; what is not acknowledged, eight times that."""
    assert defaults.QUIC_STREAM_WINDOW_BYTES == 100e6 / 8 * 0.1
    assert defaults.QUIC_SEND_WINDOW_BYTES == 8 * defaults.QUIC_STREAM_WINDOW_BYTES


def test_the_controller_knows_how_long_a_trial_has_to_count() -> None:
    assert tuple(of_engine("KNOWN_INTERVALS_MIN")) == (defaults.MINIMUM_BINS,)
    assert tuple(of_engine("KNOWN_LOOKS")) == (defaults.KNOWN_LOOKS,)
    assert tuple(of_engine("KNOWN_BATCH_SAMPLES")) == (defaults.KNOWN_BATCH_SAMPLES,)
    of_traffic = (ENGINE / "traffic" / "src" / "defaults.rs").read_text(encoding="utf-8")
    every = re.search(r"KNOWN_LOOK_EVERY: Duration = Duration::from_millis\((\d+)\);", of_traffic)
    assert every is not None
    assert int(every[1]) * defaults.MILLISECOND_NS == defaults.KNOWN_LOOK_EVERY_NS
    batches = (ENGINE / "traffic" / "src" / "known" / "batches.rs").read_text(encoding="utf-8")
    counts = [int(count) for count in re.findall(r"\((\d+), \d\.\d", batches)]
    needed = re.search(r"const NEEDED: usize = (\d);", batches)
    assert needed is not None
    assert counts[int(needed[1])] == defaults.KNOWN_BATCHES_MIN
