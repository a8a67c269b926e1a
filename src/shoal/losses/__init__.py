"""How much information a release loses."""
