copy t from stdin where a > 1;
1
\.
select 1;