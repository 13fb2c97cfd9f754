"""`make demo`: mqctl at work on two Docker hosts, from one unchanged example file."""
