copy t from stdin;
1
\.