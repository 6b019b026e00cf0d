-- One row is one column of one table, with its comment.
select table_name, column_name, data_type, comment
from duckdb_columns()
order by table_name, column_index;
