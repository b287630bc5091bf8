copy reading (day, level) from stdin with (on_error ignore);
2026-01-01	1
not a day	2
2026-01-03	3
\.
