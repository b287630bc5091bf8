copy t from stdin;
\N
\\
\t
\N	\N
\.
