"""A stranger's repository with everything in it that may stop, blind or bloat what opens it."""
