"""What monitors counted while a campaign lasted, and what of goodput's variation that explains."""
