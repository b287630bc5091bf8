create table rolled_back ();
reindex table t;
