-- a; b
/* c; */ -- no line end