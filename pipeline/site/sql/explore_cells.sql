-- One row is one cell as the page Explore lists it.
select * from explore order by rowid;
