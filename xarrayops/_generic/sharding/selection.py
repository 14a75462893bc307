"""Elements by their place in the order of all, from sorted blocks, by the digits of their bit patterns.

The bit pattern of a number, changed so that unsigned integers have the order of the numbers, is found digit by digit:
each block counts, for every wanted element, its elements below each value of the next digit. The counts of all blocks
are added, and give the digit. So an element is exact, and only counts leave a block.
"""
