-- One row is the table of sources as a typed value; without the file of sources
-- there is no row.
create table sources_document as
select from_json(document, $document) as document
from input_sources;
