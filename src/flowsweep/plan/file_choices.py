"""How files are made, read, written and compared."""

from typing import Literal

Part = Literal["whole", "read", "network", "write"]
"""What of the way from disk to disk there is."""
Cache = Literal["dropped", "warm", "direct"]
"""What stands between files and the disk."""
SyncPolicy = Literal["file", "write", "none"]
"""When a sink has files written to the disk."""
Content = Literal["random", "zeros"]
Verify = Literal["received", "stored", "none"]
"""What is compared of a file at both ends."""
