"""The phases of a cycle: pure plans from facts."""
