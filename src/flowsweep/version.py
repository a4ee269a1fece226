"""The version of Flowsweep."""

__version__ = "0.1.0"
