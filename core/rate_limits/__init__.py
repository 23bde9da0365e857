"""How often a service may be asked: what it says of that, what is learnt from its refusals, and who waits for whose turn."""
