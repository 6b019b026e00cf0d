-- The documents are in memory uncompressed until then.
checkpoint;
-- From here on no query reaches the network, an extension or a file, and none can undo that.
set enable_external_access = false;
set autoload_known_extensions = false;
set lock_configuration = true;
