"""What plans, trials, messages and records of the journal are: never changed, nothing but their fields."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of them all. What checks one is built when it is first used: few are by any one command."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
