"""The page and the metrics of campaigns, served over HTTP while they grow; nothing is ever written to an archive."""
