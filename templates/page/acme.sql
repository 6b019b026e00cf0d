-- One row is one backend with the number of its results.
select backend, count(*) as results from submission group by backend order by results desc, backend;
