select string_agg(x, ',' order by x) from log;
