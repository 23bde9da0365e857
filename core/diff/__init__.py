"""Two reports compared: what changed, and whether it is more than chance (`diff.diff_reports`)."""
