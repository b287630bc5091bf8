do $a$ begin end; $A$;
