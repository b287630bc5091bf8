copy t from stdin; -- the data
1
\.
copy t from stdin /* x */ ; /* y */ ;
2
\.
