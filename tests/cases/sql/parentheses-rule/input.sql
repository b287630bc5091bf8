create rule r as on insert to t do instead (insert into a values (1); select ';)'; delete from b);
select 1;