select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select string_agg(t::text, ', ' order by t) from sound;
