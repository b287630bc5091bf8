-- see lockstep: no
/* -- lockstep: no */
select 1 -- lockstep: no
;