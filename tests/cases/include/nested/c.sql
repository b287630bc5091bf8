select 'c'; -- and nothing more
