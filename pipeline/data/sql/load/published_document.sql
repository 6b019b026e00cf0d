-- One row is one accepted published document as a typed value.
create table published_document as
select file, from_json(document, $document) as document
from input_published
order by file;
