\restrict abcDEF123
\echo hello
create table d (id int);
\unrestrict abcDEF123
