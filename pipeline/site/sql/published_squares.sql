-- One row is one published square of the map, the best of all methods: what Explore shows of a
-- device that nobody has measured.
select * from map_square
where tier = 'published' and task = 'all' and choice = 'all' and shown = 'best'
order by device_label, backend, size_order;
