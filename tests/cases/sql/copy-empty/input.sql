copy t from stdin;
\.
select 1;