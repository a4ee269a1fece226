"""Formulas against numbers from their sources, or computed by hand."""

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis import theory
from flowsweep.packets import header_bytes


def test_a_window_each_round_trip() -> None:
    # Seed 004: 1 MiB in 175 ms.
    assert theory.window_bps(1 << 20, 0.175) == pytest.approx(47_934_902, abs=1)


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s", "product_bytes"),
    [(1.536e6, 0.02, 3_840), (44.21e6, 0.01, 55_262.5), (100e6, 0.005, 62_500), (1e9, 0.001, 125_000)],
)
def test_bandwidth_times_delay(rate_bps: float, rtt_s: float, product_bytes: float) -> None:
    # RFC 6349, section 3.3.1: the table of BDP and least receive window.
    assert theory.bandwidth_delay_bytes(rate_bps, rtt_s) == pytest.approx(product_bytes)


def test_headers_of_both_families() -> None:
    assert [header_bytes(family) for family in (4, 6)] == [52, 72]
    assert header_bytes(4, timestamps=False) == 40


def test_ideal_throughput_of_a_t3() -> None:
    # RFC 6349, section 4.1.1: 1500 bytes and 8 of framing on 44.21 Mbit/s give 42.8 Mbit/s.
    ideal = theory.link_payload_bps(44.21e6, 1500, header_bytes(4, timestamps=False), framing_bytes=8)
    assert ideal == pytest.approx(42.8e6, rel=1e-3)


def test_payload_of_an_emulated_link() -> None:
    assert theory.link_payload_bps(200e6, 1500, header_bytes(4)) == pytest.approx(193.0667e6, rel=1e-6)


@pytest.mark.parametrize(("loss", "window"), [(1e-2, 12), (1e-4, 120), (1e-8, 12_000)])
def test_mathis_windows_are_those_of_rfc_3649(loss: float, window: int) -> None:
    # RFC 3649, table of standard TCP: 1.2 / √p segments a round trip; √(3/2) is 1.2247.
    segments = theory.mathis_bps(1500, 0.1, loss) * 0.1 / 8 / 1500
    assert segments == pytest.approx(window * 1.2247 / 1.2, rel=1e-4)


def test_mathis_by_hand() -> None:
    # 1460 · 8 / 0.1 · 1.2247 / 0.1
    assert theory.mathis_bps(1460, 0.1, 0.01) == pytest.approx(1.43049e6, rel=1e-4)


def test_padhye_by_hand_where_loss_limits() -> None:
    # p = 0.02, b = 2: E[W] = 2/3 + √(8·0.98/0.12 + 4/9) = 8.7770; (1-p)^3 = 0.941192, (1-p)^W = 0.837546,
    # (1-p)^(W-3) = 0.889878; Q = 0.058808 · (1 + 0.941192 · 0.110122) / 0.162454 = 0.399517;
    # f = 1 + 0.02 + 0.0008 + 0.000032 + … = 1.020833; segments = 49 + 8.7770 + 0.40767 = 58.1847;
    # time = 0.2 · 9.7770 + 0.399517 · 1.020833 / 0.98 = 2.371560 s; 24.5344 segments/s of 1000 bytes.
    found = theory.padhye_bps(1000, 0.2, 0.02, 1.0, 1000.0, 2)
    assert found == pytest.approx(24.5344 * 8000, rel=1e-4)


def test_padhye_by_hand_where_the_window_limits() -> None:
    # p = 0.0001, W_m = 10, b = 2: (1-p)^3 = 0.99970003, (1-p)^7 = 0.99930021, (1-p)^10 = 0.99900045;
    # Q = 0.00029997 · (1 + 0.9997 · 0.00069979) / 0.00099955 = 0.300315; f = 1.00010002;
    # segments = 9999 + 10 + 0.300345 = 10009.3003;
    # time = 0.1 · (2.5 + 999.9 + 2) + 0.300315 · 1.0001 / 0.9999 = 100.740375 s; 99.3574 segments/s.
    found = theory.padhye_bps(1000, 0.1, 0.0001, 1.0, 10.0, 2)
    assert found == pytest.approx(99.3574 * 8000, rel=1e-4)


def test_padhye_without_loss_is_the_window_each_round_trip() -> None:
    assert theory.padhye_bps(1448, 0.1, 1e-9, 0.3, 100.0) == pytest.approx(
        theory.window_bps(144_800, 0.1), rel=1e-4
    )


@pytest.mark.parametrize(
    ("rtt_s", "loss", "window"),
    [(0.1, 1e-4, 187), (0.1, 1e-5, 1_054), (0.1, 1e-6, 5_926), (0.1, 1e-8, 187_400), (0.01, 1e-7, 5_926)],
)
def test_cubic_windows_are_those_of_rfc_9438(rtt_s: float, loss: float, window: int) -> None:
    # RFC 9438, section 5.1: tables of average windows, column C = 0.4.
    assert theory.cubic_bps(1500, rtt_s, loss) * rtt_s / 8 / 1500 == pytest.approx(window, rel=3e-3)


@pytest.mark.parametrize(("rtt_s", "loss"), [(0.1, 1e-2), (0.1, 1e-3), (0.01, 1e-5)])
def test_cubic_is_as_fast_as_reno_where_reno_is_faster(rtt_s: float, loss: float) -> None:
    assert theory.cubic_bps(1500, rtt_s, loss) == pytest.approx(theory.mathis_bps(1500, rtt_s, loss))


def test_efficiency_of_rfc_6349() -> None:
    # Section 4.2: 100 000 bytes, 2 000 of them sent again.
    assert theory.tcp_efficiency_percent(102_000, 2_000) == pytest.approx(98.03, abs=0.01)


def test_buffer_delay_of_rfc_6349() -> None:
    # Section 4.3: 25 ms become 32 ms.
    assert theory.buffer_delay_percent(0.032, 0.025) == pytest.approx(28)


def test_transfer_time_ratio() -> None:
    assert theory.transfer_time_ratio(96.5e6, 48.25e6) == pytest.approx(2)


def test_columns_give_what_numbers_give() -> None:
    inputs = {"mss": 1448.0, "rtt": 0.04, "loss": 0.001, "rto": 0.25, "window": 50.0}
    row = ibis.duckdb.connect().create_table("row", pa.Table.from_pylist([inputs]))
    found = row.select(
        mathis=theory.mathis_bps(row.mss, row.rtt, row.loss),
        padhye=theory.padhye_bps(row.mss, row.rtt, row.loss, row.rto, row.window),
        cubic=theory.cubic_bps(row.mss, row.rtt, row.loss),
    )
    (values,) = found.to_pyarrow().to_pylist()
    mss, rtt, loss, rto, window = inputs.values()
    assert values == {
        "mathis": pytest.approx(theory.mathis_bps(mss, rtt, loss), rel=1e-12),
        "padhye": pytest.approx(theory.padhye_bps(mss, rtt, loss, rto, window), rel=1e-12),
        "cubic": pytest.approx(theory.cubic_bps(mss, rtt, loss), rel=1e-12),
    }
