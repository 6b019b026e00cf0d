-- One row is one lifecycle entry as a typed value; `file` is the entry's
-- result.
create table lifecycle_document as
select file, from_json(document, $document) as document
from input_lifecycle
order by file;
