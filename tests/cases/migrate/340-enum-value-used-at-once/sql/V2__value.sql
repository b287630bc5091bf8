alter type tone add value 'high';
insert into sound values ('high');
