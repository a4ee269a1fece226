import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowsweep.hosts.frames import (
    MAGIC,
    MAX_BANNER_BYTES,
    MAX_PAYLOAD_BYTES,
    Frame,
    FrameError,
    FrameKind,
    FrameReader,
    encode,
)

frames = st.lists(st.builds(Frame, st.sampled_from(FrameKind), st.binary(max_size=300)), max_size=5)
banners = st.binary(max_size=300).filter(lambda banner: MAGIC not in banner + MAGIC[:-1])
cuts = st.lists(st.integers(0, 2000), max_size=20)


def read(reader: FrameReader, stream: bytes, at: list[int]) -> list[Frame]:
    edges = [0, *sorted(at), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    return [frame for piece in pieces for frame in reader.feed(piece)]


@given(banners, frames, cuts)
def test_frames_come_whole_however_the_stream_is_cut(banner: bytes, sent: list[Frame], at: list[int]) -> None:
    reader = FrameReader()
    stream = banner + MAGIC + b"".join(encode(frame) for frame in sent)
    assert read(reader, stream, at) == sent
    assert reader.banner == banner
    assert reader.opened


@given(st.binary(max_size=2000), cuts, st.sampled_from([b"", MAGIC]))
def test_garbage_gives_frames_or_an_error_and_nothing_else(
    garbage: bytes, at: list[int], opening: bytes
) -> None:
    with contextlib.suppress(FrameError):
        read(FrameReader(), opening + garbage, at)


@given(st.integers(MAX_PAYLOAD_BYTES + 1, 2**32 - 1))
def test_an_announced_giant_is_refused(size: int) -> None:
    with pytest.raises(FrameError, match=f"frame of {size} bytes"):
        list(FrameReader().feed(MAGIC + size.to_bytes(4) + b"J"))


def test_a_stream_without_an_engine_is_not_read_for_ever() -> None:
    reader = FrameReader()
    assert list(reader.feed(b"x" * MAX_BANNER_BYTES)) == []
    with pytest.raises(FrameError, match="no engine among them"):
        list(reader.feed(b"x" * (len(MAGIC) + 1)))
    assert len(reader.banner) == MAX_BANNER_BYTES


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(FrameError, match="0x57"):
        list(FrameReader().feed(MAGIC + b"\0\0\0\x10W"))
