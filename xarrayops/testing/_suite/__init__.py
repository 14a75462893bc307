"""The contract suite: the rows of each family, how a row is checked, and the class that collects all rows."""
