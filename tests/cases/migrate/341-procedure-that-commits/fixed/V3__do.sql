-- lockstep: transaction=off
do $$
begin
  for i in 4..6 loop
    insert into batch values (i);
    if i % 2 = 0 then commit; else rollback; end if;
  end loop;
end
$$;
