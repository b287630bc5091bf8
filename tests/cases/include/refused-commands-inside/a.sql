\set x 1
select 1 \gexec
\.
