"""Skills behind an HTTP endpoint."""
