"""Alarms: a path that has shifted, that loses more, or that is silent; and how that is told."""
