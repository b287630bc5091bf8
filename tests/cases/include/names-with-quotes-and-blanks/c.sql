select 'c';
