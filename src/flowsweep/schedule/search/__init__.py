"""Searches: which trial comes next follows from what those before it gave. Pure; whoever runs trials asks."""
