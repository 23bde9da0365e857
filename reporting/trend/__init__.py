"""A metric over many runs, as a page and as a picture."""
