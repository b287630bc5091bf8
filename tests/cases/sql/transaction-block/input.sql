begin;
select 1;
savepoint a;
rollback to a;
commit;