"""Results in the formats of other tools, for people who go on there."""
