"""`python -m flowsweep`, for where the console script is not on the path."""

from flowsweep.cli import main

main()
