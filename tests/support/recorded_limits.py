"""Limits of a host as Hypothesis draws them."""

from hypothesis import strategies as st

BYTES = st.integers(1, 1 << 31)
TRIPLES = st.tuples(BYTES, BYTES, BYTES)


@st.composite
def recorded_limits(draw: st.DrawFn) -> dict[str, str]:
    """What an engine may have told of its host's limits; some may be missing, or be no numbers."""
    limits: dict[str, str] = {}
    for side in "rw":
        if draw(st.booleans()):
            limits[f"net.core.{side}mem_max"] = str(draw(BYTES))
        if draw(st.booleans()):
            limits[f"net.ipv4.tcp_{side}mem"] = "\t".join(map(str, draw(TRIPLES)))
    if draw(st.booleans()):
        limits[draw(st.sampled_from(["net.core.rmem_max", "net.ipv4.tcp_wmem"]))] = draw(st.text(max_size=9))
    if draw(st.booleans()):
        limits["net.ipv4.tcp_mem"] = " ".join(map(str, draw(TRIPLES)))
    limits["net.ipv4.tcp_adv_win_scale"] = draw(st.integers(-40, 40).map(str) | st.text(max_size=4))
    for name in ("moderate_rcvbuf", "window_scaling"):
        if draw(st.booleans()):
            limits[f"net.ipv4.tcp_{name}"] = draw(st.sampled_from(["0", "1"]))
    return limits
