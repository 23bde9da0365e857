"""The Python API: `eval_skills.evaluate` and what stands beside it. `eval_skills/__init__.py` names what is public."""
