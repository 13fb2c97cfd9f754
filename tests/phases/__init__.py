"""What a cycle decides, as tables: see ``cases/README.md`` for how to read and write a case."""
