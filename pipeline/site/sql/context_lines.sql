-- One row is one arm at one depth of context, over all tasks or else on one, measured ones first.
select * from context_view where summary order by tier desc, series, context_depth;
