select 4 ~~--;
 5 ; select 6 @#&/*;*/ 7;