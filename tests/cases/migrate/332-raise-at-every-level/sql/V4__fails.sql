create table rolled_back ();
do $$
begin
  raise notice 'still shown';
  raise exception 'it % so', 'is' using errcode = 'P0ABC', detail = 'why', hint = 'what to do',
    schema = 's', table = 't', column = 'c', constraint = 'k', datatype = 'd';
end
$$;
