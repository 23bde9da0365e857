"""Score the answers of a stored run again, without calling a skill."""
