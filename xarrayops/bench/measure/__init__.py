"""One cell: its answer checked, its time, memory and the roofs of the machine measured."""
