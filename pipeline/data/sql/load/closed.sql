-- From here on no query reaches a file, the network or an extension, and none can undo that.
set enable_external_access = false;
set autoload_known_extensions = false;
set lock_configuration = true;
