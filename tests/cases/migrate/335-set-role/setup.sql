create role c_set_role;
create schema app;
grant usage, create on schema app to c_set_role;
