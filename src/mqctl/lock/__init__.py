"""The one lock module: who holds a Marquee, proven before every step."""
