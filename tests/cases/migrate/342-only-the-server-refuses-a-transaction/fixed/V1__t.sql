create table t (a int) partition by list (a);
create table t1 partition of t for values in (1);
create index t_a on t (a);
