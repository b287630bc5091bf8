SET statement_timeout = 0;
SET lock_timeout = 0;
SET transaction_timeout = 0;
CREATE TABLE reading (day date NOT NULL, level int, doubled int GENERATED ALWAYS AS (level * 2) STORED);
