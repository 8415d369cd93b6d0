"""Mutation scores of graders: the share of changed answers that they notice."""
