copy t from stdin using delimiters ',';
1,2
\.
select 1;