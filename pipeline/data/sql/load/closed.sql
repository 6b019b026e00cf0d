-- Until this checkpoint, the documents are in memory uncompressed.
checkpoint;
-- From here on, no query can reach the network, an extension or a file, or undo
-- this setting.
set enable_external_access = false;
set autoload_known_extensions = false;
set lock_configuration = true;
