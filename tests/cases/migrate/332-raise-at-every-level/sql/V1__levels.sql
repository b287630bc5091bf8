do $$
begin
  raise debug 'not sent';
  raise log 'not sent either';
  raise info 'some info';
  raise notice 'a notice of % lines', 2 using detail = 'a detail', hint = 'a hint';
  raise notice E'first line\nsecond line';
  raise warning 'a warning' using errcode = '01ABC';
end
$$;
