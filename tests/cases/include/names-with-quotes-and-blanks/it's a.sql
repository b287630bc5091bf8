select 'a';
