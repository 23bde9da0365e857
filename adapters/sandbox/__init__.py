"""Running a skill confined: resource limits everywhere, bubblewrap where it is asked for."""
