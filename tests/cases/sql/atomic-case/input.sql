create function f(a int) returns int begin atomic
  select case a when 1 then 2 else case when true then 3 end end;
  select 4;
end;
select 5;