select E'a\
b\\';select 1;