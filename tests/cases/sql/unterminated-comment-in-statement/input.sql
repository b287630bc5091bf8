select 1 /* ;
