"""Parts of the site's build that Sphinx does not have."""
