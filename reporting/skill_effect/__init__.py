"""The effect of an Agent Skill as a document, and how its figures are shown."""
