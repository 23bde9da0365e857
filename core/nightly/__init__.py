"""How a night is judged: from evidence to a classification per skill."""
