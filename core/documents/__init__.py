"""JSON and YAML documents: reading them, validating them, and wording what is wrong."""

YAML_SUFFIXES = (".yaml", ".yml")
DOCUMENT_SUFFIXES = (".json", *YAML_SUFFIXES)
"""The endings of files that hold one document."""
