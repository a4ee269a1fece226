"""What can be set without a system setting: of one trial of `flowsweep tune`."""

from dataclasses import dataclass
from enum import StrEnum

from flowsweep.units import write_rate, write_size
from flowsweep.wording import counted, format_rate, format_size


class Way(StrEnum):
    """A direction between the two hosts."""

    out = "out"
    """From the near host to the far one."""
    back = "back"


@dataclass(frozen=True, slots=True)
class Setting:
    """What an application may choose for a transfer. None: left to the host."""

    flows: int = 1
    window_bytes: int | None = None
    """Asked for at both ends of each flow."""
    congestion: str | None = None
    pacing_bps: int | None = None
    """Of each flow (SO_MAX_PACING_RATE)."""

    @property
    def trouble(self) -> tuple[int, bool, int, int]:
        """To be compared: how many things to set, whether the host's default is among them, then how much."""
        changed = (self.flows > 1, self.window_bytes, self.congestion, self.pacing_bps)
        return sum(map(bool, changed)), self.congestion is not None, self.flows, self.window_bytes or 0

    @property
    def name(self) -> str:
        """For sweeps: "1-flow", "4-flows-bbr-512KiB-paced-20Mbit"."""
        parts = [f"{self.flows}-flow{'s' if self.flows > 1 else ''}"]
        if self.congestion is not None:
            parts.append(self.congestion)
        if self.window_bytes is not None:
            parts.append(write_size(self.window_bytes))
        if self.pacing_bps is not None:
            parts.append(f"paced-{write_rate(self.pacing_bps).removesuffix('/s')}")
        return "-".join(parts)

    @property
    def words(self) -> str:
        """For people: "4 flows, bbr, 512 KiB windows, each paced at 20 Mbit/s"."""
        parts = [counted(self.flows, "flow")]
        if self.congestion is not None:
            parts.append(self.congestion)
        if self.window_bytes is not None:
            parts.append(f"{format_size(self.window_bytes)} windows")
        if self.pacing_bps is not None:
            parts.append(f"{'each ' if self.flows > 1 else ''}paced at {format_rate(self.pacing_bps)}")
        return ", ".join(parts)

    @property
    def keys(self) -> dict[str, str]:
        """Of a plan's sweep, as TOML has them."""
        keys = {"flows": str(self.flows)}
        if self.window_bytes is not None:
            keys["window"] = f'"{write_size(self.window_bytes)}"'
        if self.congestion is not None:
            keys["congestion"] = f'"{self.congestion}"'
        if self.pacing_bps is not None:
            keys["pacing_rate"] = f'"{write_rate(self.pacing_bps)}"'
        return keys


TODAY = Setting()
"""What a transfer gets that asks for nothing: one flow, with the hosts' windows and congestion control."""
