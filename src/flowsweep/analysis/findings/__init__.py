"""What a campaign teaches: one file a topic, and how all of them are decided together."""
