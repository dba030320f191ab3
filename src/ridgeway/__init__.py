"""Continual regression that does not forget."""
