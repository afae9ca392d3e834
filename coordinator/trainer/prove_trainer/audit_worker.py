"""
The audit process, or the ranks of one: polls the job directory for audits and writes the token scores of each. It
trains nothing and writes no steps.
"""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import cast

import torch

from .adapter import bare_policy, published_policy
from .audit_folder import AuditJob, load_job, write_token_scores
from .capacity import find_capacity
from .config import TrainerConfig
from .distributed import Ranks
from .errors import BatchRefused
from .events import Events
from .gguf_base import Base
from .jobs import JobDirectory
from .lifetime import Lifetime
from .limits import AUDIT_POLICIES
from .policy import Policy
from .token_scores import TokenScores, find_token_scores, in_order


@dataclass(frozen=True)
class Task:
    """The task of all ranks in this poll, found by rank 0. The others read no job: it may be gone a moment later."""

    job: AuditJob | None = None
    stop: bool = False


class AuditWorker:
    """
    Answers audits in another process than the training ranks: a group can be verified while a step is computed, and a
    job that kills this process costs no batch. Several ranks share the forward passes of a job, and rank 0 answers it.
    """

    def __init__(
        self, jobs: JobDirectory, base: Base, config: TrainerConfig, ranks: Ranks, events: Events, lifetime: Lifetime
    ) -> None:
        self.jobs = jobs
        self.base = base
        self.config = config
        self.ranks = ranks
        self.events = events
        self.lifetime = lifetime
        self.busy_with: str | None = None  # the audit that is computed, named in an error event
        # Forward passes without gradients keep nothing, so checkpointing saves nothing.
        self.capacity = replace(find_capacity(config, base, base.device), may_checkpoint=False)
        self._policies: dict[str | None, Policy] = {}  # by adapter, the least recently used first
        drafts = jobs.clean_token_score_drafts() if ranks.rank == 0 else 0
        if drafts:
            events.emit("cleaned", drafts=drafts)

    def loop(self) -> str:
        """Work until asked to end. Returns the reason."""
        self.events.emit("ready", device=str(self.base.device), worldSize=self.ranks.world)
        while True:
            self.lifetime.check()
            task = self.ranks.from_first(self._next)
            if task.stop:
                self.ranks.all_agree(True)  # no rank leaves while a peer still waits for the task
                return "stop_file"
            if task.job is None:
                self.lifetime.pause(self.config.poll_ms / 1000)
                continue
            self.busy_with = task.job.audit_id
            try:
                self._answer(task.job)
            except BatchRefused as refusal:
                if self.ranks.rank == 0:
                    self._refuse(task.job.audit_id, refusal)
            self.busy_with = None

    def _next(self) -> Task:
        if self.jobs.stop_audits_file.exists():
            self.jobs.stop_audits_file.unlink(missing_ok=True)
            return Task(stop=True)
        audit_id = next(iter(self.jobs.open_audits()), None)
        if audit_id is None:
            return Task()
        self.busy_with = audit_id
        try:
            return Task(job=load_job(self.jobs.audits / audit_id, self.base))
        except BatchRefused as refusal:
            self._refuse(audit_id, refusal)
            return Task()

    def _refuse(self, audit_id: str, refusal: BatchRefused) -> None:
        self.jobs.refuse_audit(audit_id, refusal.code, refusal.detail)
        self.events.emit("rejected", auditId=audit_id, code=refusal.code, message=refusal.detail)

    def _answer(self, job: AuditJob) -> None:
        started = perf_counter()
        self.events.emit("auditing", auditId=job.audit_id, rollouts=len(job.rollouts), tokens=job.tokens)
        scores = self._token_scores(job)
        if self.ranks.rank != 0:
            return
        write_token_scores(self.jobs.token_score_path(job.audit_id), job.audit_id, job.manifest_sha256, scores)
        self.events.emit("audited", auditId=job.audit_id, sampled=len(scores["logp"]), seconds=perf_counter() - started)

    def _token_scores(self, job: AuditJob) -> TokenScores:
        """Compute the token scores on all ranks together. Raises BatchRefused on all ranks when one raises it."""
        policy = self._agreed_policy(job.adapter_sha256)
        while True:
            budget = min(self.ranks.gather(self.capacity.budget))
            parts = self.ranks.gather(self._own_part(policy, job, budget))
            if None not in parts:
                found = {index: scores for part in parts for index, scores in (part or {}).items()}
                return in_order(found, [rollout.index for rollout in job.rollouts])
            self.capacity = self.capacity.less(budget, budget <= max(len(rollout.ids) for rollout in job.rollouts))

    def _own_part(self, policy: Policy, job: AuditJob, budget: int) -> dict[int, TokenScores] | None:
        """Compute this rank's token scores. Returns None if forward passes of `budget` tokens do not fit its device."""
        try:
            return find_token_scores(
                policy,
                job.rollouts,
                job.draws,
                self.config.packing,
                budget,
                self.config.loss.temperature,
                (self.ranks.rank, self.ranks.world),
                self.lifetime.check,
            )
        except torch.OutOfMemoryError:
            return None

    def _agreed_policy(self, adapter_sha256: str | None) -> Policy:
        """Load the policy to audit. Raises BatchRefused on all ranks when one of them does not find the adapter."""
        policy, refused = None, None
        try:
            policy = self._policy(adapter_sha256)
        except BatchRefused as refusal:
            refused = (refusal.code, refusal.detail)
        for one in self.ranks.gather(refused):
            if one is not None:
                raise BatchRefused(*one)
        return cast(Policy, policy)

    def _policy(self, adapter_sha256: str | None) -> Policy:
        policy = self._policies.pop(adapter_sha256, None)
        if policy is None:
            if adapter_sha256 is None:
                policy = bare_policy(self.base)
            else:
                path = self.jobs.adapter_path(adapter_sha256)
                policy = published_policy(self.base, path, adapter_sha256)
        self._policies[adapter_sha256] = policy
        if len(self._policies) > AUDIT_POLICIES:
            del self._policies[next(iter(self._policies))]
        return policy
