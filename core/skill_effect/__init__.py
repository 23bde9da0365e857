"""What an Agent Skill changes: the same agent on the same tasks with it and without it, as data.

Each way of equipping the agent is an *arm*; arms are evaluated as skills of one run, and compared task by task.
"""
