"""Routers and hosts are asked for their counters while a campaign lasts, between its trials too."""
