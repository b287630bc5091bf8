create or replace view c as select '${flyway:timestamp}' as t;
