insert into a
  values (${ammount}), (${amount});
