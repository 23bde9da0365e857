"""Skills in your own pytest suite: the fixture `eval_skill` and the mark `eval_skills`."""

MARK = "eval_skills"
NOT_COMPARED = "not_compared"
"""The name of the property of a test that says how many tasks its comparison is not about."""
STORE = "eval_skills_store"
"""The name of the one setting in the ini file."""
