create temp table stage (id int, name text);
copy stage from stdin;
1	one
2	two
\.
create table kept as table stage;
