"""Agent Skills: folders with a ``SKILL.md`` that an agent reads, as the standard of agentskills.io describes them."""
