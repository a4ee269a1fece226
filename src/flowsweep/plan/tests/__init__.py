"""The keys of each test and what must agree in them, one folder a test."""
