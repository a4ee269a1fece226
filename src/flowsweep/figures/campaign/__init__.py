"""Figures of a whole campaign: over its time, its distributions, its hosts, its effects."""
