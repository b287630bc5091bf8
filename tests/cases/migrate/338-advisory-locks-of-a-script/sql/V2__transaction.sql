select pg_advisory_xact_lock(43), pg_advisory_xact_lock_shared(4, 4);
do $$ begin
  if not pg_try_advisory_lock(45) then raise exception 'taken'; end if;
  perform pg_advisory_unlock(45);
end $$;
