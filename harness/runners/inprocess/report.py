"""Report the engine: version, backend, devices and the settings in force."""

import hashlib
import os
from dataclasses import replace

import llama_cpp

from harness.campaign.axis_options import recorded
from harness.campaign.model import Campaign
from harness.files import sha256_of
from harness.machine.engines import package_version, vendored_commit
from harness.models import thinking
from harness.runners.base import EngineReport
from harness.runners.device_placement import backend_named
from harness.runners.devices import devices, library
from harness.runners.inprocess.context import Context
from harness.runners.variables import variables
from schemas.submission import Engine, Settings


def engine_report(target: Context, campaign: Campaign) -> EngineReport:
    """Report the engine and its settings, read from the loaded target."""
    listed = devices()
    return EngineReport(
        engine=Engine(
            runner="llama-cpp-python",
            name="llama.cpp",
            version=llama_cpp.llama_version().decode(),
            package_version=package_version(),
            commit=vendored_commit(package_version()),
            binary_sha256=sha256_of(library("llama")),  # differs between builds of a version
            backend=backend_named(listed, gpu_layers=campaign.settings.gpu_layers),
            devices=listed,
            system_info=llama_cpp.llama_print_system_info().decode().strip()[:1000],
            variables=variables(os.environ),
        ),
        settings=_settings(target, campaign),
    )


def _settings(target: Context, campaign: Campaign) -> Settings:
    ctx, settings = target.ctx, campaign.settings
    template = target.weights.chat_template
    return replace(
        recorded(settings, "llama-cpp-python"),
        context_tokens=llama_cpp.llama_n_ctx(ctx),
        batch_tokens=llama_cpp.llama_n_batch(ctx),
        micro_batch_tokens=llama_cpp.llama_n_ubatch(ctx),
        threads=llama_cpp.llama_n_threads(ctx),
        threads_batch=llama_cpp.llama_n_threads_batch(ctx),
        thinking=thinking.state(
            template,
            target.weights.conversation("", thinking=settings.thinking),
            asked=settings.thinking,
        ),
        chat_template_sha256=(hashlib.sha256(template.encode()).hexdigest() if template else None),
    )
