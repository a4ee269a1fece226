"""One file a figure: the points of a campaign in, a Plotly figure out. `collection` has all of them."""
