VLLM := build/vllm

.PHONY: test-vllm
test-vllm: setup $(VLLM)/.installed ## Test the runner openai on a real vLLM (sets it up: 5 GB)
	DRAFTMAP_TEST_VLLM=1 $(RUN) -m pytest -o faulthandler_timeout=1200 -p no:randomly tests/harness/openai/vllm $(PYTEST_ARGS)

$(VLLM)/.installed: tools/vllm_environment tools/vllm/requirements.lock tools/vllm/convert.py | setup
	@PYTHON='$(PYTHON)' tools/vllm_environment $(VLLM) $(RUN)
	@touch $@
