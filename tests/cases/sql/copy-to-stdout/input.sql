copy t to stdout;
copy (select 1 from t) to stdout;
select 1;