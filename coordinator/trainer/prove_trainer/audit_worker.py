"""The audit process: polls the spool for audits and answers each with its evidence. Trains nothing, writes no steps."""

from time import perf_counter

import torch

from .adapter import bare_policy, published_policy
from .audit_folder import AuditJob, load_job, write_evidence
from .config import TrainerConfig
from .errors import BatchRefused
from .events import Events
from .evidence import audit_rollouts
from .gguf_base import Base
from .lifetime import Lifetime
from .limits import AUDIT_POLICIES
from .policy import Policy
from .spool import Spool


class AuditWorker:
    """
    One process, apart from the training ranks: a group can be judged while a step is computed, and a job that kills
    this process costs no batch.
    """

    def __init__(
        self, spool: Spool, base: Base, config: TrainerConfig, device: torch.device, events: Events, lifetime: Lifetime
    ) -> None:
        self.spool = spool
        self.base = base
        self.config = config
        self.device = device
        self.events = events
        self.lifetime = lifetime
        self.busy_with: str | None = None  # the audit in hand, named in an error event
        self._policies: dict[str | None, Policy] = {}  # by adapter, the least recently used first
        drafts = spool.clean_evidence_drafts()
        if drafts:
            events.emit("cleaned", drafts=drafts)

    def loop(self) -> str:
        """Works until asked to end; returns the reason."""
        self.events.emit("ready", device=str(self.device))
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
        evidence = audit_rollouts(
            self._policy(job.adapter_sha256),
            job.rollouts,
            job.draws,
            self.config.packing,
            self.config.max_tokens_per_forward,
            self.config.loss.temperature,
            self.device,
            self.lifetime.check,
        )
        write_evidence(self.spool.evidence_path(job.audit_id), job.audit_id, job.manifest_sha256, evidence)
        self.events.emit(
            "audited", auditId=job.audit_id, sampled=len(evidence["logp"]), seconds=perf_counter() - started
        )

    def _policy(self, adapter_sha256: str | None) -> Policy:
        policy = self._policies.pop(adapter_sha256, None)
        if policy is None:
            if adapter_sha256 is None:
                policy = bare_policy(self.base, self.config.precision)
            else:
                path = self.spool.adapter_path(adapter_sha256)
                policy = published_policy(self.base, path, adapter_sha256, self.config.precision)
            policy.to(self.device)
        self._policies[adapter_sha256] = policy
        if len(self._policies) > AUDIT_POLICIES:
            del self._policies[next(iter(self._policies))]
        return policy
