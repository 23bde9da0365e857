"""Does the description of an Agent Skill make an agent load it when it should: the queries, their run, and what it shows."""
