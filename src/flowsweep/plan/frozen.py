"""What all parts of a checked plan are."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of all plan types."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
