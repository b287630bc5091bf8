-- copy t from stdin;
select 'copy t from stdin;';
select 1;