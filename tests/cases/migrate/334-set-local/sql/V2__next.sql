create table there as select current_setting('work_mem') as work_mem, current_schema() as schema;
