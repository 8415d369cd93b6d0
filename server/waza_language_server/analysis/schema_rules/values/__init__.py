"""Values: invalid ones, and valid ones that are probably not intended."""
