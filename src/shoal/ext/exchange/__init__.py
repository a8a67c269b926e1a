"""Files of other programs: Excel, Stata, SPSS, SAS and projects of ARX."""
