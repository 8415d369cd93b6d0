"""What can be run, where it is offered, and what it will take: lenses, and the tree of a test explorer."""
