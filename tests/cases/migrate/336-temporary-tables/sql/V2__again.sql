create temp table stage (other text) on commit drop;
insert into stage values ('three');
create function pg_temp.twice(text) returns text language sql as $$ select $1 || $1 $$;
insert into kept select 3, pg_temp.twice(other) from stage;
