select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select relname, relowner::regrole from pg_class where relnamespace = 'app'::regnamespace order by 1;
