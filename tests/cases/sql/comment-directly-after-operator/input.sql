select 1+-- plus
2, 3*/* times; */4, 5 - -6, 7 -/**/8;