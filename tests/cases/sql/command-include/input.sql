\i other.sql
\ir 'sub dir/x.sql'
select 1;