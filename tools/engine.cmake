# Compile only the library of llama.cpp that the Python binding loads. The binding also asks for
# llama.cpp's common code and its image and sound tools: 104 of 178 files, which nothing here uses.
# An ordinary variable takes precedence over the binding's cached one (policy CMP0126).
set(LLAMA_BUILD_COMMON OFF)
set(LLAVA_BUILD OFF)
