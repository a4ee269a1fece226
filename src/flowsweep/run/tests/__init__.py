"""What each test asks of an engine and hears from it: a file for each, and one row of the registry."""
