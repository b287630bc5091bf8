create table atomic_test (id int);
-- begin atomic only in a comment;
comment on table atomic_test is 'begin atomic select 1;';
select begin_atomic from t;select 1;