"""Writes the token scores of a batch for the coordinator and waits for its findings; crash-safe on either side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .audit_folder import write_token_scores
from .batch import Batch
from .distributed import Ranks
from .errors import BatchRefused
from .events import Events
from .examination import Adapter, Examination
from .findings import read_findings
from .jobs import JobDirectory
from .layout import FINDINGS_FILE
from .lifetime import Lifetime, Stopped
from .token_scores import TokenScores, in_order


@dataclass(frozen=True)
class _Answer:
    """What rank 0 read in a batch's folder: nothing yet, the groups to leave out, a refusal, or an order to end."""

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
        Return the batch without the groups that the findings leave out, and no examination if findings are known. Token
        scores that exist were written before a restart, and are not computed again.

        Raises BatchRefused `findings_invalid`, and Stopped.
        """
        if not batch.unaudited:
            return batch, None
        if self.ranks.from_first(lambda: self._is_measured(batch)):
            return batch.without(self._findings(batch)), None
        return batch, Examination(batch.unaudited, older(), lambda found: self._verify(batch, found))

    def _is_measured(self, batch: Batch) -> bool:
        folder = self.jobs.batch_token_score_path(batch.batch_id)
        return folder.exists() or (folder.parent / FINDINGS_FILE).exists()

    def _verify(self, batch: Batch, found: Mapping[int, TokenScores]) -> frozenset[str]:
        if self.ranks.rank == 0:
            scores = in_order(found, [rollout.index for rollout in batch.unaudited if rollout.mask.any()])
            folder = self.jobs.batch_token_score_path(batch.batch_id)
            draft = self.jobs.draft_of(folder)
            write_token_scores(folder, batch.batch_id, batch.manifest_sha256, scores, draft)
        return self._findings(batch)

    def _findings(self, batch: Batch) -> frozenset[str]:
        """Wait for the coordinator's findings. Returns the groups to leave out, the same on all ranks."""
        self.events.emit("measured", batchId=batch.batch_id, rollouts=len(batch.unaudited))
        while True:
            self.lifetime.check()
            answer = self.ranks.from_first(lambda: self._look(batch))
            if answer.stop:
                self.ranks.all_agree(True)  # no rank leaves while a peer still waits for the answer
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
