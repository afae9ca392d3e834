"""The audit process: polls the spool for audits and answers each with its evidence. Trains nothing, writes no steps."""

from dataclasses import replace
from time import perf_counter

import torch

from .adapter import bare_policy, published_policy
from .audit_folder import AuditJob, load_job, write_evidence
from .config import TrainerConfig
from .errors import BatchRefused
from .events import Events
from .evidence import Evidence, audit_rollouts
from .gguf_base import Base
from .lifetime import Lifetime
from .limits import AUDIT_POLICIES
from .policy import Policy
from .room import find_room
from .spool import Spool


class AuditWorker:
    """
    One process, apart from the training ranks: a group can be judged while a step is computed, and a job that kills
    this process costs no batch.
    """

    def __init__(self, spool: Spool, base: Base, config: TrainerConfig, events: Events, lifetime: Lifetime) -> None:
        self.spool = spool
        self.base = base
        self.config = config
        self.events = events
        self.lifetime = lifetime
        self.busy_with: str | None = None  # the audit in hand, named in an error event
        self.room = replace(find_room(config, base), may_checkpoint=False)  # nothing is kept without a gradient
        self._policies: dict[str | None, Policy] = {}  # by adapter, the least recently used first
        drafts = spool.clean_evidence_drafts()
        if drafts:
            events.emit("cleaned", drafts=drafts)

    def loop(self) -> str:
        """Works until asked to end; returns the reason."""
        self.events.emit("ready", device=str(self.base.device))
        while True:
            self.lifetime.check()
            if self.spool.stop_audits_file.exists():
                self.spool.stop_audits_file.unlink(missing_ok=True)
                return "stop_file"
            audit_id = next(iter(self.spool.open_audits()), None)
            if audit_id is None:
                self.lifetime.pause(self.config.poll_ms / 1000)
                continue
            self.busy_with = audit_id
            try:
                self._answer(load_job(self.spool.audits / audit_id, self.base))
            except BatchRefused as refusal:
                self.spool.refuse_audit(audit_id, refusal.code, refusal.detail)
                self.events.emit("rejected", auditId=audit_id, code=refusal.code, message=refusal.detail)
            self.busy_with = None

    def _answer(self, job: AuditJob) -> None:
        started = perf_counter()
        self.events.emit("auditing", auditId=job.audit_id, rollouts=len(job.rollouts), tokens=job.tokens)
        evidence = self._evidence(job)
        write_evidence(self.spool.evidence_path(job.audit_id), job.audit_id, job.manifest_sha256, evidence)
        self.events.emit(
            "audited", auditId=job.audit_id, sampled=len(evidence["logp"]), seconds=perf_counter() - started
        )

    def _evidence(self, job: AuditJob) -> Evidence:
        policy = self._policy(job.adapter_sha256)
        while True:
            budget = self.room.budget
            try:
                return audit_rollouts(
                    policy,
                    job.rollouts,
                    job.draws,
                    self.config.packing,
                    budget,
                    self.config.loss.temperature,
                    self.lifetime.check,
                )
            except torch.OutOfMemoryError:
                alone = budget <= max(len(rollout.ids) for rollout in job.rollouts)
            self.room = self.room.less(budget, alone)

    def _policy(self, adapter_sha256: str | None) -> Policy:
        policy = self._policies.pop(adapter_sha256, None)
        if policy is None:
            if adapter_sha256 is None:
                policy = bare_policy(self.base)
            else:
                path = self.spool.adapter_path(adapter_sha256)
                policy = published_policy(self.base, path, adapter_sha256)
        self._policies[adapter_sha256] = policy
        if len(self._policies) > AUDIT_POLICIES:
            del self._policies[next(iter(self._policies))]
        return policy
