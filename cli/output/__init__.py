"""What the commands print: one file per kind of result."""
