# What of llama.cpp is compiled for the engine inside Python? Only the library that the binding loads.
# The binding asks for llama.cpp's common code and its image and sound tools, too: 104 of 178 files
# that nothing here uses. An ordinary variable stands before the binding's cached one (CMP0126).
set(LLAMA_BUILD_COMMON OFF)
set(LLAVA_BUILD OFF)
