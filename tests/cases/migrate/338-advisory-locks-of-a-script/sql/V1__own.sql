select pg_advisory_lock(42);
create table one ();
select pg_advisory_unlock(42);
