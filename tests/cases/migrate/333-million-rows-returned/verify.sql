select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select count(*) from big where name = 'y';
select to_regclass('behind') is not null;
