import json
from pathlib import Path

import numpy as np
import pytest
import torch

import checkpoint
import finetune
from dialogues import Dialogue, pad, write_shard
from model import Qwen3
from sizes import TINY, random_dialogue, trained_a_little


def test_padding_is_not_trained_on():
    rng = np.random.default_rng(4)
    model = trained_a_little()
    rows = pad([random_dialogue(rng, 50), random_dialogue(rng, 140)])
    before = finetune.dialogue_loss(model, rows)[0]
    rows.ids[~rows.present] = 77
    assert torch.equal(finetune.dialogue_loss(model, rows)[0], before)


def test_the_loss_weighs_the_assistants_tokens_ten_times_the_others():
    rng = np.random.default_rng(5)
    model = trained_a_little()
    dialogues = [random_dialogue(rng, length) for length in (120, 200, 90)]
    with torch.no_grad():
        loss, own = (float(value) for value in finetune.dialogue_loss(model, pad(dialogues)))
        weighted, own_losses, total = 0.0, [], 0.0
        for dialogue in dialogues:
            ids = torch.from_numpy(dialogue.ids.astype(np.int64))
            losses = torch.nn.functional.cross_entropy(model(ids[None, :-1])[0], ids[1:], reduction='none').numpy()
            weights = np.where(dialogue.assistant[1:], 1.0, 0.1)
            weighted, total = weighted + (losses * weights).sum(), total + weights.sum()
            own_losses.append(losses[dialogue.assistant[1:]])
    assert loss == pytest.approx(weighted / total, rel=0.01)
    assert own == pytest.approx(np.concatenate(own_losses).mean(), rel=0.01)


def test_the_rate_warms_up_holds_and_falls_in_a_line_to_two_percent():
    def scale(done: float) -> float:
        return finetune.rate_scale(done, warm_up=0.01, decay=0.4)

    assert scale(0) == scale(1) == 0.02
    assert scale(0.005) == 0.5
    assert scale(0.01) == scale(0.6) == 1
    assert scale(0.8) == pytest.approx(0.5)


def test_the_rate_of_one_part_of_the_training_only_holds_or_only_falls():
    assert [finetune.rate_scale(done, warm_up=0, decay=0) for done in (0, 0.5, 1)] == [1, 1, 1]
    assert [finetune.rate_scale(done, warm_up=0, decay=1) for done in (0, 0.5, 1)] == [1, 0.5, 0.02]


def few_words(rng: np.random.Generator) -> Dialogue:
    """A dialogue in 16 of the table's 512 ids: that much a short run learns."""
    dialogue = random_dialogue(rng, 80)
    return Dialogue(9 + dialogue.ids % 16, dialogue.assistant)


def run(monkeypatch, folder: Path, *flags: str) -> None:
    paths = ['--start', 'start.pt', '--shards', 'shards', '--held-out', 'held-out.safetensors', '--out', 'out.pt']
    monkeypatch.chdir(folder)
    monkeypatch.setattr('sys.argv', ['finetune.py', *paths, '--batch-tokens', '512', *flags])
    # Keeping freed memory would hold for the whole test process.
    monkeypatch.setattr(finetune.cpu, 'prepare', torch.set_num_threads)
    finetune.main()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(7)
    (tmp_path / 'shards/101').mkdir(parents=True)
    write_shard(tmp_path / 'shards/101/a.safetensors', [few_words(rng) for _ in range(60)])
    write_shard(tmp_path / 'held-out.safetensors', [few_words(rng) for _ in range(4)])
    checkpoint.save(tmp_path / 'start.pt', Qwen3(TINY), None, {})
    return tmp_path


def test_a_run_spends_its_budget_and_an_interrupted_one_goes_on_to_the_same_weights(folder, monkeypatch, capsys):
    run(monkeypatch, folder, '--tokens', '9000')
    whole, _, progress = checkpoint.load(folder / 'out.pt')
    assert 9000 <= progress['tokens'] < 9000 + 512
    assert json.loads(capsys.readouterr().out.splitlines()[-1])['final']['loss'] < 0.9 * np.log(TINY.vocab_size)

    (folder / 'out.pt').unlink()
    whole_loss, calls = finetune.dialogue_loss, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return whole_loss(*arguments)

    monkeypatch.setattr(finetune, 'SAVE_EVERY_S', 0)
    monkeypatch.setattr(finetune, 'dialogue_loss', interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, folder, '--tokens', '9000')
    assert checkpoint.load(folder / 'out.pt')[2]['steps'] == 8
    run(monkeypatch, folder, '--tokens', '9000')
    resumed, _, after = checkpoint.load(folder / 'out.pt')
    assert (after['steps'], after['tokens']) == (progress['steps'], progress['tokens'])
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(resumed.state_dict()[name], value, atol=1e-6, rtol=0)


def test_a_held_out_shard_among_the_training_shards_is_refused(folder, monkeypatch):
    with pytest.raises(SystemExit):
        run(monkeypatch, folder, '--shards', '.')


def test_a_second_part_goes_on_with_the_optimizer_of_the_first(folder, monkeypatch):
    run(monkeypatch, folder, '--tokens', '2000', '--decay', '0')
    _, state, _ = checkpoint.load(folder / 'out.pt')
    (folder / 'out.pt').rename(folder / 'first.pt')
    loaded = []
    monkeypatch.setattr(finetune.Optimizer, 'load', lambda _, saved: loaded.append(saved))
    run(monkeypatch, folder, '--start', 'first.pt', '--tokens', '1000', '--warm-up', '0', '--decay', '1')
    assert [part['state'].keys() for part in loaded[0]] == [part['state'].keys() for part in state]
    assert checkpoint.load(folder / 'out.pt')[2]['tokens'] < 2000


def test_a_part_with_a_new_optimizer_loads_none_of_the_first(folder, monkeypatch):
    run(monkeypatch, folder, '--tokens', '2000', '--decay', '0')
    (folder / 'out.pt').rename(folder / 'first.pt')
    loaded = []
    monkeypatch.setattr(finetune.Optimizer, 'load', lambda _, saved: loaded.append(saved))
    run(monkeypatch, folder, '--start', 'first.pt', '--tokens', '1000', '--new-optimizer')
    assert loaded == []
