"""The record of runs: types, file formats, reviews, and reports."""
