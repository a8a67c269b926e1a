"""Prove a lower bound of the information loss of any release."""
