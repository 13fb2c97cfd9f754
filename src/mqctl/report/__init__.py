"""Listeners that turn events into text, JSON and annotations."""
