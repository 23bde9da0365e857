"""What is asked of skills: built-in benchmarks, and the loader of these and of one's own."""

from eval_skills.benchmarks.filtering import count_complexity, count_tags, filter_tasks
from eval_skills.benchmarks.loader import checked_benchmark, is_read_as_tasks, load_benchmark, load_benchmark_or_tasks, load_tasks
from eval_skills.benchmarks.locations import benchmark_folder, builtin_ids, known_ids

__all__ = [
    "benchmark_folder",
    "builtin_ids",
    "checked_benchmark",
    "count_complexity",
    "count_tags",
    "filter_tasks",
    "is_read_as_tasks",
    "known_ids",
    "load_benchmark",
    "load_benchmark_or_tasks",
    "load_tasks",
]
