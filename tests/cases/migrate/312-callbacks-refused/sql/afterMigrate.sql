select 1;
vacuum;
