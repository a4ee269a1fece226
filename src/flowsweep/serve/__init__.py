"""The page and the metrics of campaigns, served over HTTP while they grow; no archive is ever written."""
