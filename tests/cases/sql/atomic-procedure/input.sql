create procedure bump(k int) language sql begin atomic
  insert into tally values (k);
  insert into tally values (k + 1);
end;
call bump(10);
select 42;