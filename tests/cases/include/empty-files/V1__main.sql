\i empty.sql
\i comment.sql
select 1;
