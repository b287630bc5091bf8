select 1;
commit;
select 2;
