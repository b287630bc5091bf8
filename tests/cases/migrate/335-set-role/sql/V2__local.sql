set local role c_set_role;
create table app.theirs_too (id int);
