"""A page for people: a summary of assessments, and the template that shows it."""
