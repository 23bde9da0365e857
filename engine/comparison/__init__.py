"""Let a model compare the answers of two skills, pair by pair."""
