copy item from stdin;
1	one; two
2	\\i none.sql
\.
