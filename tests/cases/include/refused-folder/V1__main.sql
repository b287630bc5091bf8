\i sub
