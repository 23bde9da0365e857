"""What people type: every command parses, calls one function, and prints."""
