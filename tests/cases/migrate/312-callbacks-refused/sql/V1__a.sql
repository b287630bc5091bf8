create table a ();
