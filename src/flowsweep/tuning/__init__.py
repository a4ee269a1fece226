"""From a few rounds of trials to what to set: the search of `flowsweep tune`, its decision and its advice.

Pure: rows of trials and facts of hosts in, the next round or an answer out. No clock, no traffic, no files.
"""
