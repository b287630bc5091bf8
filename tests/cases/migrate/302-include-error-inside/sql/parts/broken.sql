insert into a values (1);
select 1 from missing;
