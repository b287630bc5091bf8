begin;
grant usage on schema app to case311_reader;
grant select on all tables in schema app to case311_reader;
insert into public.audit (what, who) values ('granted', current_user);
commit;
