"""One offline HTML page that tells a campaign: `write`."""
