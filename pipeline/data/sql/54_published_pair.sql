-- One row is one published speedup of one request at a time (published_rate).
create table published_pair as
select * exclude (concurrency, prompt_tokens)
from published_rate
where coalesce(concurrency, 1) = 1
order by source, position;
