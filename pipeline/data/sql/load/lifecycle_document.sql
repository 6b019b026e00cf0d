-- One row is one lifecycle entry as a typed value; `file` is its result.
create table lifecycle_document as
select file, from_json(document, $document) as document
from input_lifecycle
order by file;
