select count(*) from pg_index where indisvalid and indrelid = 'a'::regclass; select statements_done from lockstep_history where version = '2'
