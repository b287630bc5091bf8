select string_agg(what || case when who = 'case311_owner' then ' as owner' else '' end, ', ' order by id) from audit;
select tableowner, has_table_privilege('case311_reader', 'app.customer', 'select') from pg_tables where tablename = 'customer';
select indisvalid from pg_index where indexrelid = 'app.customer_name'::regclass;
select string_agg(script || ' ' || state, ', ' order by rank) from lockstep_history;
