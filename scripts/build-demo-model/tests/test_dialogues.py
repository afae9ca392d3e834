from itertools import islice

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from dialogues import BadShard, Dialogue, batches, pad, read_shard, write_shard
from evaluate import sources, teacher_forced
from sizes import TINY, random_dialogue, trained_a_little


def test_a_shard_reads_back_as_it_was_written(tmp_path):
    rng = np.random.default_rng(0)
    dialogues = [random_dialogue(rng, length) for length in (40, 77, 120)]
    write_shard(tmp_path / 'a.safetensors', dialogues)
    read = read_shard(tmp_path / 'a.safetensors', TINY.vocab_size)
    for before, after in zip(dialogues, read, strict=True):
        assert (before.ids == after.ids).all() and (before.assistant == after.assistant).all()


@pytest.mark.parametrize(
    'change',
    [
        {'cu_seqlens': np.array([0, 30], np.int32)},
        {'cu_seqlens': np.array([0, 39, 40], np.int32)},
        {'ids': np.full(40, TINY.vocab_size, np.int32)},
        {'loss_mask': np.full(40, 2, np.uint8)},
        {'extra': np.zeros(1, np.int32)},
    ],
)
def test_a_broken_shard_is_refused(tmp_path, change):
    arrays = {'ids': np.full(40, 9, np.int32), 'loss_mask': np.ones(40, np.uint8)}
    save_file(arrays | {'cu_seqlens': np.array([0, 40], np.int32)} | change, tmp_path / 'a.safetensors')
    with pytest.raises(BadShard):
        read_shard(tmp_path / 'a.safetensors', TINY.vocab_size)


def test_dialogues_of_a_batch_do_not_see_each_other():
    rng = np.random.default_rng(3)
    model = trained_a_little()
    first, second, other = (random_dialogue(rng, length) for length in (90, 60, 120))
    with torch.no_grad():
        together = model(torch.from_numpy(pad([first, second]).ids))
        elsewhere = model(torch.from_numpy(pad([other, second]).ids))
        alone = model(torch.from_numpy(second.ids[None].astype(np.int64)))
    torch.testing.assert_close(together[1, :60], alone[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(elsewhere[1, :60], alone[0], atol=1e-5, rtol=0)


def test_an_epoch_holds_every_dialogue_once_in_an_order_the_seed_fixes(tmp_path):
    rng = np.random.default_rng(6)
    dialogues = [random_dialogue(rng, int(length)) for length in rng.integers(30, 90, 40)]
    paths = [tmp_path / 'a.safetensors', tmp_path / 'b.safetensors']
    write_shard(paths[0], dialogues[:25])
    write_shard(paths[1], [*dialogues[25:], random_dialogue(rng, 400)])

    def epoch(seed: int) -> list[bytes]:
        rows, taken = [], batches(paths, TINY.vocab_size, 500, seed, max_length=300)
        while len(rows) < 40:
            made = next(taken)
            assert made.ids.size <= 500
            rows += [ids[present].tobytes() for ids, present in zip(made.ids, made.present, strict=True)]
        return rows

    assert sorted(epoch(1)) == sorted(d.ids.astype(np.int64).tobytes() for d in dialogues)
    assert epoch(1) == epoch(1) != epoch(2)
    skipped = batches(paths, TINY.vocab_size, 500, 1, 300)
    next(skipped)
    assert (next(skipped).ids == list(islice(batches(paths, TINY.vocab_size, 500, 1, 300), 2))[1].ids).all()


def test_dialogues_of_all_shards_are_mixed(tmp_path, monkeypatch):
    monkeypatch.setattr('dialogues.WINDOW', 8)
    for name, first in (('a', 100), ('b', 300)):
        made = [Dialogue(np.full(30, first + i, np.int32), np.ones(30, bool)) for i in range(20)]
        write_shard(tmp_path / f'{name}.safetensors', made)
    shards = [tmp_path / 'a.safetensors', tmp_path / 'b.safetensors']
    rows = next(batches(shards, TINY.vocab_size, 240, 1, max_length=300))
    assert {bool(first >= 300) for first in rows.ids[:, 0]} == {False, True}


def test_sources_tell_where_a_token_could_have_been_copied_from():
    #               prompt       assistant      tool result   assistant
    ids = np.array([10, 11, 12, 50, 11, 60, 20, 21, 50, 21, 11, 61], np.int32)
    assistant = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1], bool)
    glue = np.zeros(100, bool)
    glue[50] = True
    kinds = {kind: np.flatnonzero(chosen).tolist() for kind, chosen in sources(Dialogue(ids, assistant), glue).items()}
    assert kinds == {'from_user': [4, 10], 'from_results': [9], 'unseen': [5, 11]}


def test_the_report_counts_what_greedy_decoding_gets_right():
    rng = np.random.default_rng(8)
    report = teacher_forced(trained_a_little(), [random_dialogue(rng, 120) for _ in range(4)], np.arange(24, 34))
    assert report['assistant'] < 0.1 and report['turns'] == 0 and report['loss'] > 3
