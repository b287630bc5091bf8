\frobnicate a; b
select 1;