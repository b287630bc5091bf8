\restrict abcDEF123
create table b (id int);
