select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select to_regclass('side.here') is not null, work_mem from side.seen;
select schema, work_mem <> '7MB' from public.there;
