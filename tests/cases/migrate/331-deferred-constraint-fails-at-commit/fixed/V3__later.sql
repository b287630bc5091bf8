create table later ();
