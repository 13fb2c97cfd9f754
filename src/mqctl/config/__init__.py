"""The declared file: types, discovery, positions, all errors at once."""
