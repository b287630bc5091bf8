create table held as
select count(*) as number from pg_locks
where locktype = 'advisory' and pid = pg_backend_pid() and (classid, objid) in ((0, 42), (0, 43), (4, 4), (0, 45));
select pg_advisory_lock(44);
