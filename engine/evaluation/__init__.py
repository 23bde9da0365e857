"""An evaluation: plan it, call the skills, score the answers, land the results, sum them up."""
