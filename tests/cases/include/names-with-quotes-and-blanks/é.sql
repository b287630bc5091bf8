select 'e';
