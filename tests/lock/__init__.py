"""The lock and the store, against real Redis servers and real sockets."""
