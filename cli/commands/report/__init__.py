"""``eval-skills report``: reports in other formats and programs, and two of them compared."""
