"""The command line: parse, wire, call, map errors to exit statuses."""
