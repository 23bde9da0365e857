"""What is read of runs that have landed: their reports, and the skills to choose from."""
