select string_agg(day || ' ' || doubled, ', ' order by day), has_table_privilege('keeper_362', 'reading', 'maintain'), current_setting('transaction_timeout') from reading;
