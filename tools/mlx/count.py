"""Answer prompts with only `stream_generate`, to count its rounds independently of the runner.

    PYTHONPATH=build/mlx/packages .venv/bin/python -m tools.mlx.count < QUESTIONS > ANSWERS

Each input line is JSON with a prompt, a token limit, and the depth of the draft (0 for no draft).
Each output line has two answers, as pairs of a token and whether it was drafted. `whole` answers
the prompt. `rest` answers the prompt plus the first token of `whole`, so that the first round of
`rest` starts after this token.
"""

import json
import sys

from mlx_lm import load, stream_generate

from tools.mlx.environment import DRAFT, MODELS, TARGET

if __name__ == "__main__":
    target, tokenizer = load(str(MODELS / TARGET))
    draft, _ = load(str(MODELS / DRAFT))
    for line in sys.stdin:
        asked = json.loads(line)
        depth, limit = asked["depth"], asked["limit"]
        speculation = {"draft_model": draft, "num_draft_tokens": depth} if depth else {}
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": asked["prompt"]}], add_generation_prompt=True
        )
        whole = [
            (each.token, each.from_draft)
            for each in stream_generate(target, tokenizer, prompt, limit, **speculation)
        ]
        longer = [*prompt, whole[0][0]]
        rest = [
            (each.token, each.from_draft)
            for each in stream_generate(target, tokenizer, longer, limit - 1, **speculation)
        ]
        sys.stdout.write(json.dumps({"whole": whole, "rest": rest}) + "\n")
