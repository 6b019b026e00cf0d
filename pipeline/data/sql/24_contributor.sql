-- One row is one named contributor. `counted`: the contributor's results count. `known`:
-- maintainers have looked at the account. The vote of an unknown contributor confirms
-- nothing.
create table contributor as
with named as (
  select
    lower(contributor) as contributor,
    count(*) filter (counted) as submissions,
    min(measured_from) as first_measured,
    max(measured_from) as last_measured
  from setup
  where contributor is not null
  group by lower(contributor)
)
select
  named.*,
  coalesce(lifecycle_document.document.status, 'new') as contributor_standing,
  contributor_standing = 'known' as known
from named
left join lifecycle_document on lifecycle_document.file = contributor_entry(named.contributor)
order by contributor;
