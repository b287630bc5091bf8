create table label_rule (pat text check (pat ~ E'.\\d'));
create function label_greet() returns text as $$
begin
  return E'it\'s; fine';
end;
$$ language plpgsql;
