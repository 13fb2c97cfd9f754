"""The command line, mostly as a process of its own."""
