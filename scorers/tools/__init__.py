"""Which tools an agent called, in which order, and whether one of them was forbidden."""
