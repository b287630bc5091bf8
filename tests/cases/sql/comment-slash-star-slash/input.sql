/*/ opens and does not close; select 0; */
select 1;
/**/ select 2; /***/ select 3; /****/