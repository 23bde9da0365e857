"""What is wrong with the tasks of a benchmark, before a skill is asked any of them."""
