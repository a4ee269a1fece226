"""What the report says of trials of each test, one file a test."""
