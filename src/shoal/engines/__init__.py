"""Where a plan is carried out: in this process (:mod:`shoal.run`) or on Spark."""
