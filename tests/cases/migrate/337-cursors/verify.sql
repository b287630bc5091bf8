select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select number from open_cursors;
select count(*), min(id), max(id) from line;
