create type tone as enum ('low', 'mid');
create table sound (t tone);
