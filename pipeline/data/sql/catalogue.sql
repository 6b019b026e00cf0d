-- One row is one column of one table.
select table_name, column_name, data_type
from duckdb_columns()
order by table_name, column_index;
