/* outer /* inner; */ still; comment -- */
select 1;
/* a /* b /* c; */ */ drop table c1; */ select 2;