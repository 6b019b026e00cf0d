"""Write prompts with `stream_generate` alone, to count its rounds independently of the runner.

    PYTHONPATH=build/mlx/packages .venv/bin/python -m tools.mlx.count < QUESTIONS > ANSWERS

A line of JSON has a prompt as text, a limit, and the depth of the draft, 0 for none. The answer has
token ids, whether each was drafted, and seconds: of the whole text at once, and of the text after
its first token, where a round begins with the draft.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from mlx_lm import load, stream_generate

from tools.mlx.environment import DRAFT, MODELS, TARGET


def main() -> None:
    target, tokenizer = load(str(MODELS / TARGET))
    draft, _ = load(str(MODELS / DRAFT))
    for line in sys.stdin:
        asked = json.loads(line)
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": asked["prompt"]}], add_generation_prompt=True
        )
        speculation: dict[str, Any] = {}
        if asked["depth"]:
            speculation = {"draft_model": draft, "num_draft_tokens": asked["depth"]}

        def written(
            tokens: list[int], limit: int, options: dict[str, Any] = speculation
        ) -> dict[str, Any]:
            stream = stream_generate(target, tokenizer, tokens, max_tokens=limit, **options)
            timed = [(each.token, each.from_draft, time.perf_counter()) for each in stream]
            return {
                "tokens": [token for token, _, _ in timed],
                "from_draft": [drafted for _, drafted, _ in timed],
                "decode_s": timed[-1][2] - timed[0][2],
            }

        whole = written(prompt, asked["limit"])
        rest = written([*prompt, whole["tokens"][0]], asked["limit"] - 1)
        sys.stdout.write(json.dumps({"whole": whole, "rest": rest}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
