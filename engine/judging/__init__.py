"""What every action that lets a model judge shares: checks before, outcomes after, figures in the reports."""
