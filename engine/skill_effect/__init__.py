"""What an Agent Skill changes: the arms of the experiment, its run, and its result."""
