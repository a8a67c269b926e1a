"""What comes in: files, frames, databases, cells, schemas, domains and hierarchies."""
