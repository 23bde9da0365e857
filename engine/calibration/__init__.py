"""How far a judge agrees with people's labels."""
