select 1;
copy t from stdin; select 2;
1
\.
