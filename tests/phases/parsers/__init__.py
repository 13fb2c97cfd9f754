"""The texts of Docker, Compose, git and of our own scripts, read back. No host is needed."""
