-- One row is one detected step between engine builds, newest first.
select * from build_step where step is not null order by measured_from desc, series desc;
