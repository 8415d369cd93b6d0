"""What is kept of documents, and what it depends on."""
