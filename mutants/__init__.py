"""The mutation campaign: changes the source in small ways and counts on a test to notice each change."""
