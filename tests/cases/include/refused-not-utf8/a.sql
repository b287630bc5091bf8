select 1;
-- café
