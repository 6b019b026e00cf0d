-- One row is one person's plain speed of a model on one device: the median of the person's results,
-- or of the person's published figures. `known` is as in `evidence`. Only llama.cpp, its forks and
-- MLX count, because other engines read the same card at another rate. Single figures of a source
-- without a licence are left out: such sources rarely state engine, build and context, and plain
-- speeds of one device differ by 12 % and more.
with own as (
  select
    tier, device_label, vram_gib, backend, target_label, quantisation,
    min(submission) as source, median(baseline_tps) as tps,
    account_of(contributor) as person, known
  from evidence
  where counted and concurrency = 1 and conditions is null
    and regexp_matches(engine_label, '^(llama\.cpp|ik_llama\.cpp|mlx)', 'i')
  group by
    tier, device_label, vram_gib, backend, target_label, quantisation, known,
    account_of(contributor), if(tier = 'imported', submission, null)
),
printed as (
  select
    'published' as tier, device_label, vram_gib, backend, target_label, quantisation,
    coalesce(min(source.url), min(source.title)) as source,
    median(baseline_tps) as tps,
    coalesce(published_pair.contributor, source.author, source.publisher) as person,
    true as known
  from published_pair
  join source using (source)
  where regexp_matches(engine_name, '^(llama\.cpp|ik_llama\.cpp|mlx)', 'i')
    and source.licence is not null and len(doubts) = 0 and offload is null
  group by
    device_label, vram_gib, backend, target_label, quantisation,
    coalesce(published_pair.contributor, source.author, source.publisher)
)
select * from (from own union all from printed)
where
  tps is not null and quantisation is not null
  and not contains(device_label, ' × ') and not contains(device_label, ' + ')
order by device_label, target_label, quantisation, tier, source, tps;
