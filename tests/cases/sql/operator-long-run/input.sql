select a <=>+-*/* c; */ b, a @-@ b, a !=-- ;
- b;