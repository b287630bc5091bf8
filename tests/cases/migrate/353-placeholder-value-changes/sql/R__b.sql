insert into log values ('b ${nothing:here}');
