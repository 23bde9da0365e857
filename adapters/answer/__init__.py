"""What a skill answered: envelopes, error bodies, JSON text."""
