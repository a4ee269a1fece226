"""What is known of each test, one folder a test."""
