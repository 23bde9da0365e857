"""Skills in somebody's own pytest suite: the fixture `eval_skill` and the mark `eval_skills`."""
