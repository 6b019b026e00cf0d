-- One row is one quantisation with the bits that its files take per parameter, the middle of those
-- whose size and parameters are known; the most common first. A file counts once, however often it
-- was measured.
with files as (
  select distinct on (target_name, quantisation, file_bytes)
    quantisation, file_bytes * 8 / parameters as bits
  from submission
  where file_bytes is not null and parameters > 0 and quantisation is not null
  union all
  select distinct on (target_name, quantisation, file_gb) quantisation, file_gb * 8 / parameters_b
  from published_row
  where file_gb is not null and parameters_b > 0 and quantisation is not null
)
select quantisation, median(bits) as bits, count(*) as files
from files
group by quantisation
order by files desc, quantisation;
