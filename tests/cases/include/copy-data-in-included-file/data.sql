copy t from stdin;
1
2;
\i none.sql
\.
