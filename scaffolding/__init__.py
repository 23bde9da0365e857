"""New files for people to start from: skills, projects. Nothing that exists is changed unless it is asked for."""
