"""How judging by models shows in a report."""
