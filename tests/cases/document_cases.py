"""Which documents look like a submission and are none? Each with the rule and the place expected.

Every case changes the small valid document at one place: `arms.1.id` is the id of the second arm.
"""

# ruff: noqa: E501 - one case, one line

from typing import Any

_LONG, _MARKUP = "x" * 2000, "<img src=x onerror=alert(1)>"

# place, value, rule, path of the finding
SCHEMA: tuple[tuple[str, Any, str, str], ...] = (
    ("format", "draftmap", "schema-const", "$.format"),
    ("version", 3, "schema-const", "$.version"),
    ("licence", "CC0-1.0", "schema-const", "$.licence"),
    ("tier", "published", "schema-enum", "$.tier"),
    ("tier", ["measured"], "schema-enum", "$.tier"),
    ("profile", "Default", "schema-enum", "$.profile"),
    ("measured_from", "2026-13-01T00:00:00Z", "schema-format", "$.measured_from"),
    ("measured_from", "2026-02-30T00:00:00Z", "schema-format", "$.measured_from"),
    ("measured_from", "2026-11-21T24:61:00Z", "schema-format", "$.measured_from"),
    ("measured_from", "2026-11-21T09:00:00+01:00", "schema-pattern", "$.measured_from"),
    ("measured_from", "yesterday", "schema-pattern", "$.measured_from"),
    ("contributor", "-ada", "schema-pattern", "$.contributor"),
    ("contributor", "@ada", "schema-pattern", "$.contributor"),
    ("contributor", "ada/../root", "schema-pattern", "$.contributor"),
    ("contributor", "a" * 40, "schema-pattern", "$.contributor"),
    ("contributor", "", "schema-pattern", "$.contributor"),
    ("notes", _LONG, "schema-maxLength", "$.notes"),
    ("notes", "", "schema-minLength", "$.notes"),
    ("machine.os.family", "Linux", "schema-enum", "$.machine.os.family"),
    ("engine.backend", "CUDA", "schema-enum", "$.engine.backend"),
    ("engine.commit", "main", "schema-pattern", "$.engine.commit"),
    ("engine.variables", [{"name": "PATH", "value": "/usr/bin:/bin"}], "schema-pattern", "$.engine.variables[0].value"),
    ("target.id", "../../etc/passwd", "schema-pattern", "$.target.id"),
    ("target.id", "Target", "schema-pattern", "$.target.id"),
    ("target.repository", "https://example.org/x", "schema-pattern", "$.target.repository"),
    ("target.sha256", "A" * 64, "schema-pattern", "$.target.sha256"),
    ("settings.flash_attention", True, "schema-enum", "$.settings.flash_attention"),
    ("suite.version", "1.0", "schema-pattern", "$.suite.version"),
    ("arms.1.method.type", "magic", "schema-enum", "$.arms[1].method.type"),
    ("trials.0.reason", "bored", "schema-enum", "$.trials[0].reason"),
    ("trials.1.output_sha256", "zz", "schema-pattern", "$.trials[1].output_sha256"),
)  # fmt: skip

# Fields that a page shows, each with something that a page must not run.
MARKUP: tuple[tuple[str, Any, str, str], ...] = (
    ("target.name", "</script><script>alert(1)</script>", "schema-pattern", "$.target.name"),
    ("notes", "a\nb", "characters", "$.notes"),
    ("notes", "=cmd|' /C calc'!A0\u0000", "characters", "$.notes"),
    ("notes", "\u001b]8;;https://example.org\u0007", "characters", "$.notes"),
    ("contributor", "javascript:alert(1)", "schema-pattern", "$.contributor"),
    ("contributor", "{{7*7}}", "schema-pattern", "$.contributor"),
    ("machine.cpu.name", _MARKUP, "schema-pattern", "$.machine.cpu.name"),
    ("machine.gpus.0.name", "<svg onload=alert(1)>", "schema-pattern", "$.machine.gpus[0].name"),
    ("machine.gpus.0.name", "RTX\u202e0504", "characters", "$.machine.gpus[0].name"),
    ("machine.os.version", "<!--", "schema-pattern", "$.machine.os.version"),
    ("engine.version", "1\r\n::error::x", "characters", "$.engine.version"),
    ("engine.name", "<b>", "schema-pattern", "$.engine.name"),
    ("engine.devices.0.name", "a<b", "schema-pattern", "$.engine.devices[0].name"),
    ("engine.system_info", "<iframe>", "schema-pattern", "$.engine.system_info"),
    ("tool.name", "<script src=//example.org>", "schema-pattern", "$.tool.name"),
    ("tool.version", "1.0 onload=x", "schema-pattern", "$.tool.version"),
    ("target.name", "Model<details open ontoggle=alert(1)>", "schema-pattern", "$.target.name"),
    ("target.name", "Mo\u200bdel", "characters", "$.target.name"),
    ("target.family", "<a href=javascript:alert(1)>", "schema-pattern", "$.target.family"),
    ("target.id", "[x](javascript:alert(1))", "schema-pattern", "$.target.id"),
    ("target.quantisation", "Q4'); drop table trial; --", "schema-pattern", "$.target.quantisation"),
    ("target.repository", "a/b?x=<y>", "schema-pattern", "$.target.repository"),
    ("drafts.0.derivation", "<style>*{display:none}</style>", "schema-pattern", "$.drafts[0].derivation"),
    ("arms.0.argv", ["--model", _MARKUP], "schema-pattern", "$.arms[0].argv[1]"),
    ("suite.id", "core\u2028", "characters", "$.suite.id"),
    ("suite.prompts.0.id", "{% raw %}", "schema-pattern", "$.suite.prompts[0].id"),
)  # fmt: skip
