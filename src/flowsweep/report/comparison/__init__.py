"""The page of a comparison: two campaigns, or two settings of one."""
