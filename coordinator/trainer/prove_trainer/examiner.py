"""Puts the evidence on a batch before the coordinator and waits for what it finds; crash-safe on either side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .audit_folder import write_token_scores
from .batch import Batch
from .distributed import Ranks
from .errors import BatchRefused
from .events import Events
from .token_scores import TokenScores, in_order
from .examination import Adapter, Examination
from .findings import read_findings
from .layout import FINDINGS_FILE
from .lifetime import Lifetime, Stopped
from .jobs import JobDirectory


@dataclass(frozen=True)
class _Answer:
    """What rank 0 found beside a batch: nothing yet, what to leave out, no answer at all, or that it is to end."""

    left_out: frozenset[str] | None = None
    refusal: tuple[str, str] | None = None
    stop: bool = False


@dataclass(frozen=True)
class Examiner:
    jobs: JobDirectory
    ranks: Ranks
    events: Events
    lifetime: Lifetime
    poll_seconds: float

    def examine(self, batch: Batch, older: Callable[[], Mapping[int, Adapter]]) -> tuple[Batch, Examination | None]:
        """
        The batch as far as it is known what to leave out of it, and how to find that out where it is not. Evidence
        that lies there was written before a restart, and is not computed again.

        Raises BatchRefused `findings_invalid`, and Stopped.
        """
        if not batch.unaudited:
            return batch, None
        if self.ranks.from_first(lambda: self._is_measured(batch)):
            return batch.without(self._findings(batch)), None
        return batch, Examination(batch.unaudited, older(), lambda found: self._judge(batch, found))

    def _is_measured(self, batch: Batch) -> bool:
        folder = self.jobs.batch_token_score_path(batch.batch_id)
        return folder.exists() or (folder.parent / FINDINGS_FILE).exists()

    def _judge(self, batch: Batch, found: Mapping[int, TokenScores]) -> frozenset[str]:
        if self.ranks.rank == 0:
            evidence = in_order(found, [rollout.index for rollout in batch.unaudited if rollout.mask.any()])
            folder = self.jobs.batch_token_score_path(batch.batch_id)
            draft = self.jobs.draft_of(folder)
            write_token_scores(folder, batch.batch_id, batch.manifest_sha256, evidence, draft)
        return self._findings(batch)

    def _findings(self, batch: Batch) -> frozenset[str]:
        """The groups to leave out, once the coordinator has judged them; the same on all ranks."""
        self.events.emit("measured", batchId=batch.batch_id, rollouts=len(batch.unaudited))
        while True:
            self.lifetime.check()
            answer = self.ranks.from_first(lambda: self._look(batch))
            if answer.stop:
                self.ranks.all_agree(True)  # nobody leaves while a peer still waits for the answer
                raise Stopped("stop_file")
            if answer.refusal:
                raise BatchRefused(*answer.refusal)
            if answer.left_out is not None:
                return answer.left_out
            self.lifetime.pause(self.poll_seconds)

    def _look(self, batch: Batch) -> _Answer:
        if self.jobs.take_stop():
            return _Answer(stop=True)
        try:
            return _Answer(left_out=read_findings(self.jobs.batches / batch.batch_id, batch))
        except BatchRefused as refusal:
            return _Answer(refusal=(refusal.code, refusal.detail))
