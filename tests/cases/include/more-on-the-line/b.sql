select 'b';
