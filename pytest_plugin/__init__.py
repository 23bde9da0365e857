"""Skills in your own pytest suite: the fixture `eval_skill` and the mark `eval_skills`."""
