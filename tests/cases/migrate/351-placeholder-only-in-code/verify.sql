select note, "ada x" from ada_notes order by note;
select js(), greeting();
