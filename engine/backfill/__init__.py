"""A backfill: past periods rebuilt by recomputing, rescoring or replaying them, each compared with the one before."""
