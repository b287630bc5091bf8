select to_regclass('a') is null;
