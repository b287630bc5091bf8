-- lockstep: transaction=off
reindex table t;
