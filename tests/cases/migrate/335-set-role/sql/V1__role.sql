set role c_set_role;
create table app.theirs (id int);
