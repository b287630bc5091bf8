copy t from stdin;
\.x
 \.
\\.
x\.
\.\.
\. 

\.
select 1;