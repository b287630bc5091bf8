\! echo hi; \\ echo
select 1;