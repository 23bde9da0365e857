"""Messages of agent runs in the notations of several vendors."""
