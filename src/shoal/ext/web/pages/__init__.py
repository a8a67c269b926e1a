"""What the page shows and what its forms do: tables, their hierarchies, their runs."""
