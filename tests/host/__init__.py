"""The host side: transport, guard and gateway, against real shells and real SSH servers."""
