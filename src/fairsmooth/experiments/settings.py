"""Numbers that jobs and claims share; changing one changes what is run."""

# Share of the rows that every trial keeps for the test.
TEST_SIZE = 0.3
# Shares of the test rows on which every fitted method is measured again.
PARTITIONS = (0.05, 0.1, 0.15, 0.3, 0.4)
# Printed numbers are rounded to two digits, so they may be this far off.
ROUNDING = 0.005
