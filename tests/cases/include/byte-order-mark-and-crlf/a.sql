select 'a';
