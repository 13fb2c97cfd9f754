"""Tests that keep the repository's own promises: README, docs, Makefile, import contracts."""
