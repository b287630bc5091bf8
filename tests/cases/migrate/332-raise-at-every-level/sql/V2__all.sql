set client_min_messages = debug1;
do $$
begin
  raise debug 'a debug message';
  raise log 'a log message';
end
$$;
