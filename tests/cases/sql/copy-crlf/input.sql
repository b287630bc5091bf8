copy t from stdin;
1
\.
select 1;
