copy t from stdin;
\N
1
\.
;copy (a) from stdin csv;--
\.
x