insert into public.audit (what, who) values ('migrated', current_user);
