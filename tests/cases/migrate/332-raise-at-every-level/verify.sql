select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select to_regclass('rolled_back') is null;
