"""The watched log: its files, its lines, and the interactions in them."""
