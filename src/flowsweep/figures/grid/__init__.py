"""Goodput over the points of a grid: maps, surfaces, lines."""
