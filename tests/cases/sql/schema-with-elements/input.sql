create schema s
  create table t (a int)
  create view v as select a from t;
select 1;