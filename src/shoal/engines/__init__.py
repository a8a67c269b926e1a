"""Where a plan is carried out: in this process (:mod:`shoal.verbs.anonymize`) or on Spark."""
