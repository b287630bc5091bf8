select '🐘;', "🐘" from 🐘; -- 🐘
select 1;