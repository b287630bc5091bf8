create table batch (id int);
create procedure fill(n int) language plpgsql as $$
begin
  for i in 1..n loop
    insert into batch values (i);
    commit;
  end loop;
end
$$;
