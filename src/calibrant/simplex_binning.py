"""How the simplex is cut into cells."""
