copy t from stdin;
1
2