select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select * from kept order by id;
