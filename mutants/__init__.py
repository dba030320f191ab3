"""The mutation campaign: changes the source in small ways and counts on `verify` or a test to notice each change."""
