create /* ; */ table -- ;
 a /**/ (b int); -- ; end
select 1;