"""Read tables: files, frames, databases, schemas, domains and hierarchies."""
