"""The in-process runner: llama.cpp through the low-level interface of llama-cpp-python."""
