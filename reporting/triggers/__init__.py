"""The triggers of an Agent Skill as a document, and how their figures are shown."""
