"""Two reports beside each other, as tables and as a page."""
