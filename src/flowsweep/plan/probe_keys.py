"""Keys of the tests that ask and wait for answers."""

from flowsweep.plan import fields
from flowsweep.plan.table import Table, key


class ProbeKeys(Table):
    """What round-trip times and paths have alike; defaults are each test's own."""

    every: fields.Pause | None = key("From one probe to the next; 10ms if absent.", None, examples=["10ms"])
    timeout: fields.Patience | None = key(
        "How long an answer may take before it counts as lost; 1s if absent.", None, examples=["1s"]
    )
