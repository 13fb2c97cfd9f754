"""Tests of the declared file."""
