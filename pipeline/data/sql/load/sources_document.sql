-- One row is the table of sources as a typed value; there is none without that file.
create table sources_document as
select from_json(document, $document) as document
from input_sources;
