"""A backfill: the same comparison for past periods, by running, rescoring or recomputing them."""
