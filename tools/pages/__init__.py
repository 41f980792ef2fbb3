"""The pages that are made when the documentation is built: reference, tables of what there is, list of decisions."""
