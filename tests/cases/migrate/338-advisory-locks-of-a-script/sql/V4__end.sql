create table four ();
