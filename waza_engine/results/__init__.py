"""The record of runs: typed, as it stands in files, reviewed, and reported."""
