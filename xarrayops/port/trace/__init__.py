"""One run of a program on NumPy with arrays that count what is done with them, and the forecast from it.

`array` is the class of these arrays, `modules` stands for NumPy in the program, `record` holds the counts, and `run`
makes the run. `operations` has the kinds of operations and measures them, `rates` are their times on a library, and
`forecast` combines both.
"""
