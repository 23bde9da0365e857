"""A metric of one skill over its runs: points, change points, and what changed with them."""
