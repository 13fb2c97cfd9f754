"""Tests against the real things: Redis, sshd, dockerd, git."""
