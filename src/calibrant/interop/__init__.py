"""Everything that knows another project's name, or a file format."""
