"""The pages of the documentation that are made when it is built: the reference, the tables of what there is, the list of decisions."""
