select 'c\';';
