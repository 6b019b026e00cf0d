-- One row is one measured arm at one depth of context, over all tasks or else on one.
select * from context_view where tier = 'measured' and summary order by series, context_depth;
