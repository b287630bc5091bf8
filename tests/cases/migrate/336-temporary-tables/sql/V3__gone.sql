insert into kept
select 4, coalesce(to_regclass('pg_temp.stage')::text, 'no table') || ', '
       || coalesce(to_regprocedure('pg_temp.twice(text)')::text, 'no function');
