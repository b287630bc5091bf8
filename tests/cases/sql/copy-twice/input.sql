copy a (x, "from") from stdin;
1
\.

copy b from stdin;
2
\.
