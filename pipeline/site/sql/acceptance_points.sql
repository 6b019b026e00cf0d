-- One row is one point of a published acceptance curve, with who published it.
select
  acceptance_curve.*, source.title as source_title, source.author, source.licence as source_licence
from acceptance_curve
join source using (source)
where tier = 'published'
order by source, curve, depth;
