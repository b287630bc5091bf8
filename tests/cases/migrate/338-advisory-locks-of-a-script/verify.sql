select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select number from held;
select count(*) from pg_locks where locktype = 'advisory' and objid = 44 and database = (select oid from pg_database where datname = current_database());
