"""Durations that end once enough is known."""
