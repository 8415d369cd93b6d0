"""Rules about Vally's files beyond their schemas: versions, names, references, weights."""
