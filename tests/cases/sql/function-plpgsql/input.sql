create or replace function f() returns trigger language plpgsql as $fn$
begin
  if new.a > 1 then
    raise notice 'x; %', $1; -- it's
  end if;
  return new;
end;
$fn$;
create trigger t before insert on a for each row execute function f();
