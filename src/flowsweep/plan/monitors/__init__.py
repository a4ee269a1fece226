"""Monitors in a plan: routers and hosts that are asked for their counters while a campaign lasts."""
