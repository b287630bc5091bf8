create role keeper_362;
