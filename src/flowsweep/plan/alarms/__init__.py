"""Alarms in a plan: what is watched, and who is told."""
