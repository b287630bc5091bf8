copy t from stdin;
1	it's; -- x
\N	"
\.
select 1;