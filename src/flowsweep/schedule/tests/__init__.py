"""What each test makes of a sweep: a file for each, and one row of the registry."""
