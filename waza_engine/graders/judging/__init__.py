"""How a model judges: what it is told, what its answer means, and the rubrics that say both."""
