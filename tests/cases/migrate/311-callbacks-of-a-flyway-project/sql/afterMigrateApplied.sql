insert into public.audit (what, who) values ('applied', current_user);
