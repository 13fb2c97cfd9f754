"""Uncommitted work is never destroyed: random checkouts against every act that could."""
