\ir ./V1__main.sql
