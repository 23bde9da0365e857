"""JSON and YAML documents: reading them, validating them, and wording what is wrong."""
