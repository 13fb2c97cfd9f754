"""Everything that touches a Marquee goes through this package."""
