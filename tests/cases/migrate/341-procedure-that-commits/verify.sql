select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select string_agg(id::text, ' ' order by id) from batch;
