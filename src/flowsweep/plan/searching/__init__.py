"""Searches in a plan."""
