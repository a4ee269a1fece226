"""Campaigns that go on by themselves: which plans, in which archives, and what keeps them going."""
