"""Flowsweep measures how fast a network path and the hosts at its ends really are."""

__all__ = ["__version__"]

__version__ = "0.1.0"
