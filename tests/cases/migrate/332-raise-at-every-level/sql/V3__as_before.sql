do $$ begin raise debug 'a leaked level'; raise notice 'the last'; end $$;
