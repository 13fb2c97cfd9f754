"""`make bench`: what a cycle costs, counted in the servers' own logs, and ratios of times.

Ratios, since absolute times say more about a machine than about mqctl.
"""
