-- One row is one person's plain speed of a model on one device: the median of the person's results,
-- or of the person's published figures. Only llama.cpp, its forks and MLX count, because other
-- engines read the same card at another rate. Single figures of a source without a licence are
-- left out: such sources rarely state engine, build and context, and plain speeds of one device
-- differ by 12 % and more.
with own as (
  select
    device_label, vram_gib, target_label, quantisation,
    account_of(contributor) as person, baseline_tps
  from evidence
  where counted and concurrency = 1 and conditions is null and backend != 'cpu'
    and regexp_matches(engine_label, '^(llama\.cpp|ik_llama\.cpp|mlx)', 'i')
),
printed as (
  select
    device_label, vram_gib, target_label, quantisation,
    coalesce(published_pair.contributor, source.author, source.publisher) as person,
    baseline_tps
  from published_pair
  join source using (source)
  where regexp_matches(engine_name, '^(llama\.cpp|ik_llama\.cpp|mlx)', 'i') and backend != 'cpu'
    and source.licence is not null and len(doubts) = 0 and offload is null
)
select device_label, vram_gib, target_label, quantisation, person, median(baseline_tps) as tps
from (from own union all from printed)
where
  baseline_tps is not null and quantisation is not null
  and not contains(device_label, ' × ') and not contains(device_label, ' + ')
group by device_label, vram_gib, target_label, quantisation, person
order by all;
