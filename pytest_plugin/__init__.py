"""Skills in your own pytest suite: the fixture `eval_skill` and the mark `eval_skills`."""

MARK = "eval_skills"
STORE = "eval_skills_store"
"""The name of the one setting in the ini file."""
