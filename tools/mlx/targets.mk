MLX := build/mlx

.PHONY: test-mlx
test-mlx: setup $(MLX)/.installed ## Test the runner mlx and mlx_lm.server (sets them up: 2 GB)
	DRAFTMAP_TEST_MLX=1 PYTHONPATH=$(MLX)/packages $(RUN) -m pytest -o faulthandler_timeout=3000 -p no:randomly \
	  tests/harness/mlx tests/harness/runners/test_contract.py -k mlx $(PYTEST_ARGS)

$(MLX)/.installed: tools/mlx_environment tools/mlx/requirements.lock tools/mlx/model.py | setup
	@tools/mlx_environment $(MLX) $(RUN)
	@touch $@
