"""A plan and its file, rules as flags, and the one merge of a plan and arguments."""
