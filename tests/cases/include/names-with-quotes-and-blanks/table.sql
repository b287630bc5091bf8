select 't';
