"""What is said of an alarm, to programs and to people."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from flowsweep.alarms.alarm import Alarm, sentence
from flowsweep.wording import printable

Moment = Literal["begin", "end"]


@dataclass(frozen=True, slots=True)
class Message:
    """What is told once: that an alarm began, or that it is over."""

    campaign: str
    alarm: Alarm
    moment: Moment
    archive: str = ""
    """What tells the campaign's archive from any other."""

    @property
    def key(self) -> str:
        """Of the message, among those of its archive."""
        return f"{self.alarm.name}-{self.moment}"

    @property
    def identity(self) -> str:
        """Of the message, among all: a receiver that gets one twice can tell by it."""
        return f"{hashlib.sha256(self.archive.encode()).hexdigest()[:12]}-{self.key}"

    @property
    def subject(self) -> str:
        """One short line."""
        what = "begins" if self.moment == "begin" else "is over"
        return _line(f"Flowsweep {self.campaign}: {self.alarm.kind} {what}")

    @property
    def text(self) -> str:
        """One line with all that matters."""
        said = sentence(self.alarm, when_found=self.moment == "begin")
        return _line(said if self.moment == "begin" else f"{said}: over ({self.alarm.end})")

    def as_json(self) -> dict[str, Any]:
        """What programs get; `text` is what chat programs show."""
        return {
            "text": f"{self.subject}. {self.text}",
            "key": self.identity,
            "campaign": self.campaign,
            "moment": self.moment,
            "alarm": self.alarm.as_json(),
        }

    def as_bytes(self) -> bytes:
        """The same, as JSON in ASCII."""
        return json.dumps(self.as_json()).encode()


def _line(text: str) -> str:
    """Names in it are others': none adds a line to a mail, or a control sequence to a terminal."""
    return " ".join(printable(text).split())
