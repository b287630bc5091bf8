copy t from stdout;
1
\.
select 1;