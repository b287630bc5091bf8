create table a (id int);
\i none.sql
\ir ../outside.sql
