copy memo from stdin csv;
1,"first line;
second ""line""
third"
2,plain
\.
select 1;