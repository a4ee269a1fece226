"""What trials of files say beyond bytes: which stage of the way from disk to disk held the others up."""
