"""From grader scores to trial, task and suite scores."""
