"""One run of a program on NumPy with arrays that count what is done with them, and the forecast from it.

`array` is the class of these arrays, `modules` stands for NumPy in the program, `record` holds the counts, `run` makes
the run, `rates` measures the libraries of this machine, and `forecast` combines both.
"""
