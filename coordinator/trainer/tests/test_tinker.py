import io
import json
import logging
import tarfile
from dataclasses import replace
from pathlib import Path

import fixtures
import pytest
import torch
from prove_trainer.config import LoraSettings, OptimizerSettings, TinkerSettings, load_config
from prove_trainer.distributed import Ranks
from prove_trainer.errors import TrainerError
from prove_trainer.events import Events
from prove_trainer.examination import Examination
from prove_trainer.grpo import GrpoTrainer
from prove_trainer.jobs import JobDirectory
from prove_trainer.lifetime import Stopped
from prove_trainer.policy import new_policy
from prove_trainer.shards import put
from prove_trainer.tinker_adapter import most_bytes, read_adapter
from prove_trainer.tinker_backend import TinkerBackend, join_service
from prove_trainer.tinker_http import ServiceHttp, checked_url
from prove_trainer.tinker_service import Datum, TinkerService, _Beats, in_requests
from prove_trainer.worker import Worker
from safetensors.torch import load_file, save
from tinker_stand_in import KEY, StandIn, archive_of

LORA = LoraSettings(rank=4, alpha=8)
# An eps above the noise of float32 gradients, or AdamW would make whole steps of that.
OPTIMIZER = OptimizerSettings(lr=1e-2, eps=1e-4, warmup_steps=2)


def as_volunteers_run_it(seed: int = 0):
    model = fixtures.random_model(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.copy_(parameter.half().float())
    return model


@pytest.fixture
def there():
    service = StandIn(as_volunteers_run_it())
    yield service
    service.close()


@pytest.fixture
def pauses() -> list[float]:
    return []


def trainer(base, there, pauses, optimizer=OPTIMIZER, lora=LORA, **settings) -> GrpoTrainer:
    policy = new_policy(base, lora, 0, None, None)
    service = TinkerService(ServiceHttp(there.url, KEY), "Random/Tiny", pauses.append)
    service.check()
    backend = TinkerBackend(policy, optimizer, lora, 5, TinkerSettings("Random/Tiny", **settings), service)
    one = GrpoTrainer(policy, optimizer, fixtures.alone(), backend=backend)
    backend.start()
    return one


def here(base, other: GrpoTrainer, optimizer=OPTIMIZER, lora=LORA) -> GrpoTrainer:
    """A trainer that has the same adapter, and makes its gradients itself."""
    policy = new_policy(base, lora, 0, None, None)
    put(policy.adapter_parameters(), dict(other.policy.adapter_parameters()))
    return GrpoTrainer(policy, optimizer, fixtures.alone())


def batch_of(rollouts, **loss):
    """Whose sampler may be as far off as it likes."""
    return fixtures.as_batch(rollouts, **{"guard": 20.0, "drift": 20.0, **loss})


def adapter(one: GrpoTrainer) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in one.policy.adapter_parameters()}


def furthest(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> float:
    return max(float((left[name] - right[name]).abs().max()) for name in left)


@pytest.fixture(scope="module")
def rollouts(base):
    return fixtures.sampled(new_policy(base, LORA, 0, None, None), fixtures.make_rollouts())


@pytest.mark.parametrize(
    ("settings", "loss", "modules"),
    [
        ({}, {}, LORA.target_modules),
        ({"passes": 3, "max_grad_norm": 0.05, "weight_decay": 0.1}, {"kl_coefficient": 0.1, "clip_low": 0.01}, None),
    ],
    ids=["one pass", "three passes, KL, clipped gradients, decay, attention alone"],
)
def test_steps_at_the_service_are_those_that_are_made_here(base, there, pauses, rollouts, settings, loss, modules):
    optimizer = replace(OPTIMIZER, **settings)
    lora = replace(LORA, target_modules=modules or ("k_proj", "o_proj", "q_proj", "v_proj"))
    theirs = trainer(base, there, pauses, optimizer, lora)
    ours = here(base, theirs, optimizer, lora)
    batch = batch_of(rollouts, **loss)
    for step in range(3):
        before = adapter(ours)
        expected, found = (one.run(batch, step, "shared", 60) for one in (ours, theirs))
        moved = furthest(before, adapter(ours))
        assert found.skipped is expected.skipped is None and moved > 1e-3
        assert furthest(adapter(theirs), adapter(ours)) < 1e-3 * moved
        assert found.stats["loss"] == pytest.approx(expected.stats["loss"], abs=1e-6)
        assert found.stats["clipFraction"] == pytest.approx(expected.stats["clipFraction"], abs=1e-3)
        assert found.stats["updates"] == expected.stats["updates"]
        assert found.stats["serviceGapMean"] < found.stats["serviceGapMax"] < 1e-4
        assert found.stats["gradNorm"] is None
    assert not pauses


def test_the_first_pass_is_the_audit_and_a_group_that_it_leaves_out_never_reaches_the_service(
    base, there, pauses, rollouts
):
    draws = fixtures.random_draws(rollouts)
    unaudited = tuple(replace(rollout, draws=own) for rollout, own in zip(rollouts, draws, strict=True))
    theirs = trainer(base, there, pauses)
    ours = here(base, theirs)
    sent = []
    there.before = lambda _, content: sent.extend(content.get("forward_backward_input", {}).get("data", []))
    shown = []

    def verify(found: dict) -> frozenset[str]:
        shown.append(found)
        return frozenset(["group-1"])

    for one in (ours, theirs):
        one.run(batch_of(unaudited), 0, "shared", 60, examination=Examination(unaudited, {}, verify))
    assert shown[0].keys() == shown[1].keys() == {rollout.index for rollout in rollouts}
    for index, scores in shown[0].items():
        for name, values in scores.items():
            assert values == pytest.approx(shown[1][index][name], abs=1e-5)
    tokens = [datum["model_input"]["chunks"][0]["tokens"] for datum in sent]
    groups = {rollout.group for one in tokens for rollout in rollouts if one == rollout.ids[: len(one)].tolist()}
    assert groups == {"group-0", "group-2"}
    assert furthest(adapter(theirs), adapter(ours)) < 1e-5


def test_a_step_that_meets_faults_is_the_same_and_is_taken_once(base, there, pauses, rollouts):
    quiet = StandIn(as_volunteers_run_it())
    undisturbed = trainer(base, quiet, pauses)
    undisturbed.run(batch_of(rollouts), 0, "shared", 4096)
    quiet.close()
    assert not pauses

    one = trainer(base, there, pauses)
    there.pending = 3
    there.faults = {
        "create_session": [503],
        "forward_backward": [429, "drop", 500],
        "optim_step": ["drop", 502],
        "save_weights": ["drop"],
        "retrieve_future": [429, 504],
        "archive": [503],
    }
    outcome = one.run(batch_of(rollouts), 0, "shared", 4096)
    assert outcome.skipped is None and furthest(adapter(one), adapter(undisturbed)) == 0
    assert there.steps == 1 and not any(there.faults.values())
    # What the service asks for, or longer each time.
    assert pauses.count(3) == 6 and pauses.count(4) == 1 and 1 in pauses


def test_a_name_that_an_unanswered_attempt_has_saved_is_taken(base, there, pauses, rollouts):
    one = trainer(base, there, pauses)
    path = "tinker://run-1/weights/prove-1"
    there.before = lambda name, _: there.states.update(
        {path: there.models["run-1"].saved()} if name == "archive" else {}
    )
    one.backend.start()
    there.before = lambda *_: None
    assert one.backend.path == path and one.run(batch_of(rollouts), 0, "shared", 4096).skipped is None


@pytest.mark.parametrize("request_name", ["load_weights", "forward_backward", "optim_step", "save_weights"])
def test_a_pass_that_the_service_loses_begins_again_from_the_last_state(
    base, there, pauses, rollouts, request_name, caplog
):
    one = trainer(base, there, pauses)
    ours = here(base, one)
    for step in range(2):
        ours.run(batch_of(rollouts), step, "shared", 4096)
    one.run(batch_of(rollouts), 0, "shared", 4096)
    lost = {"error": f"out of machines for {KEY}", "category": "server"}

    def lose(name: str, content: dict) -> None:
        if name == "retrieve_future" and there.log[-2] == request_name and there.faults.pop("once", None):
            there.results[content["request_id"]] = lost

    there.before, there.faults["once"] = lose, [1]
    one.run(batch_of(rollouts), 1, "shared", 4096)
    assert "once" not in there.faults
    assert furthest(adapter(one), adapter(ours)) < 1e-5
    assert "out of machines for ***" in caplog.text and KEY not in caplog.text


def test_a_first_adapter_that_the_service_loses_is_asked_for_again(base, there, pauses):
    there.faults = {"save_weights": [404]}
    assert trainer(base, there, pauses).backend.path == "tinker://run-1/weights/prove-1"


def test_a_pass_that_is_lost_every_time_is_not_paid_for_without_end(base, there, pauses, rollouts):
    one = trainer(base, there, pauses)
    there.faults = {"optim_step": [404] * 99}
    with pytest.raises(TrainerError) as caught:
        one.run(batch_of(rollouts), 0, "shared", 4096)
    assert caught.value.code == "service_failed" and there.log.count("optim_step") == 5


def test_another_base_is_refused_by_its_distance_and_nothing_moves(base, pauses, rollouts):
    other = StandIn(as_volunteers_run_it(seed=1))
    one = trainer(base, other, pauses)
    before, path = adapter(one), one.backend.path
    with pytest.raises(TrainerError, match="Random/Tiny is the base that the volunteers run") as caught:
        one.run(batch_of(rollouts), 0, "shared", 4096)
    assert caught.value.code == "service_base" and other.steps == 0
    assert furthest(adapter(one), before) == 0 and one.backend.path == path
    other.close()


def test_an_adapter_there_that_is_not_ours_is_refused_by_its_distance(base, there, pauses, rollouts):
    one = trainer(base, there, pauses, max_distance=1e-3)
    one.run(batch_of(rollouts), 0, "shared", 4096)
    with torch.no_grad():
        one.policy.adapter_parameters()[0][1].add_(0.5)
    with pytest.raises(TrainerError) as caught:
        one.run(batch_of(rollouts), 1, "shared", 4096)
    assert caught.value.code == "service_base"


def test_numbers_of_the_service_that_are_none_undo_the_step(base, there, pauses, rollouts):
    one = trainer(base, there, pauses)
    before = one.snapshot()

    def poison(tensors: dict, _: dict) -> None:
        next(iter(tensors.values()))[0, 0] = float("nan")

    there.change = poison
    assert one.run(batch_of(rollouts), 0, "shared", 4096).skipped == "nonfinite"
    after = one.snapshot()
    assert after.keys() == before.keys() and all(torch.equal(after[name], before[name]) for name in before)


def test_a_first_adapter_that_changes_the_base_is_refused(base, there, pauses):
    there.change = lambda tensors, _: [values.add_(1) for name, values in tensors.items() if "lora_B" in name]
    with pytest.raises(TrainerError) as caught:
        trainer(base, there, pauses)
    assert caught.value.code == "service_adapter"


SHAPES = {
    f"base_model.model.model.layers.0.self_attn.q_proj.lora_{half}.weight": torch.Size(shape)
    for half, shape in (("A", (4, 8)), ("B", (6, 4)))
}
ATTENTION = replace(LORA, target_modules=("q_proj",))
CONFIG = {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}
TENSORS = {name: torch.ones(shape) for name, shape in SHAPES.items()}


def files(tensors=TENSORS, **config) -> dict[str, bytes]:
    return {
        "adapter_model.safetensors": save(tensors),
        "adapter_config.json": json.dumps({**CONFIG, **config}).encode(),
    }


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def named(name: str) -> tarfile.TarInfo:
    return tarfile.TarInfo(name)


def sized(name: str, size: int) -> bytes:
    """An archive whose only header claims a size."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf()


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("prefix", ["", "base_model.model."])
def test_an_adapter_is_read_from_an_archive_under_names_with_and_without_prefix(mode, prefix):
    short = {prefix + name.removeprefix("base_model.model."): values.bfloat16() for name, values in TENSORS.items()}
    content = {f"./{name}": data for name, data in files(short).items()} | {"checkpoint_complete": b""}
    found = read_adapter(archive_of(content, mode), SHAPES, ATTENTION)
    assert found.keys() == SHAPES.keys() and furthest(found, TENSORS) == 0
    assert all(values.dtype == torch.float32 for values in found.values())


A, B = SHAPES
HOSTILE = {
    "no archive": b"PK\x03\x04 something else",
    "nothing": b"",
    "cut off": archive_of(files())[:300],
    "a path that leads out of it": archive_of(files(), extra=(named("../../.ssh/authorized_keys"),)),
    "an absolute path": archive_of(files(), extra=(named("/etc/passwd"),)),
    "a symbolic link": archive_of({**files()}, extra=(link("adapter", "/etc"),)),
    "a hard link": archive_of({**files()}, extra=(link("adapter", "../x", tarfile.LNKTYPE),)),
    "a device": archive_of(files(), extra=(link("null", "", tarfile.CHRTYPE),)),
    "too many files": archive_of({**files(), **{f"file-{i}": b"" for i in range(40)}}),
    "a file twice": archive_of(files(), extra=(named("adapter_config.json"),)),
    "a header that claims a terabyte": sized("adapter_model.safetensors", 2**40),
    "far more than it takes packed": archive_of({**files(), "zeros": bytes(2**24)}),
    "no weights": archive_of({"adapter_config.json": b"{}"}),
    "no configuration": archive_of({"adapter_model.safetensors": save(TENSORS)}),
    "a pickle": archive_of({**files(), "adapter_model.safetensors": b"\x80\x04}."}),
    "a configuration that is no JSON": archive_of({**files(), "adapter_config.json": b"{" * 10_000}),
    "another rank": archive_of(files(r=8)),
    "another alpha": archive_of(files(lora_alpha=32)),
    "other modules": archive_of(files(target_modules=["q_proj", "v_proj"])),
    "another scale": archive_of(files(use_rslora=True)),
    "ranks by module": archive_of(files(rank_pattern={"q_proj": 2})),
    "a tensor less": archive_of(files({A: TENSORS[A]})),
    "a tensor more": archive_of(files({**TENSORS, "base_model.model.lm_head.lora_A.weight": torch.ones(4, 8)})),
    "a name twice, with and without prefix": archive_of(
        files({**TENSORS, A.removeprefix("base_model.model."): torch.ones(4, 8)})
    ),
    "another shape": archive_of(files({**TENSORS, A: torch.ones(8, 4)})),
    "another type": archive_of(files({**TENSORS, A: torch.ones(4, 8, dtype=torch.int32)})),
}


@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_archive_is_refused_and_leaves_nothing_on_disk(archive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrainerError) as caught:
        read_adapter(archive, SHAPES, ATTENTION)
    assert caught.value.code == "service_adapter"
    assert not list(tmp_path.iterdir())


def test_more_bytes_than_an_adapter_can_have_are_not_read(base, there, pauses, rollouts):
    one = trainer(base, there, pauses)
    limit = most_bytes(one.backend.shapes)

    def swell(name: str, _: dict) -> None:
        if name == "archive":
            there.archives = {key: bytes(limit + 1) for key in there.archives}

    there.before = swell
    with pytest.raises(TrainerError, match=f"more than {limit} bytes") as caught:
        one.run(batch_of(rollouts), 0, "shared", 4096)
    assert caught.value.code == "service_answer"


@pytest.mark.parametrize(
    "location",
    [
        "http://storage.example/adapter",
        "file:///etc/passwd",
        "ftp://127.0.0.1/a",
        "https://[",
        "https://a b/",
        "https:///a",
    ],
)
def test_an_adapter_is_not_fetched_from_where_it_is_not_safe_to(base, there, pauses, location):
    there.location = location
    with pytest.raises(TrainerError) as caught:
        trainer(base, there, pauses)
    assert caught.value.code == "service_answer"


def answers(**output) -> dict:
    return {"loss_fn_outputs": [output]}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"loss_fn_outputs": []},
        answers(),
        answers(logprobs={"data": [0.0]}),
        answers(logprobs={"data": ["-1"] * 3}),
        answers(logprobs={"data": [10**400] * 3}),
        answers(logprobs=None),
    ],
    ids=["empty", "for nothing", "without", "too few", "texts", "beyond all numbers", "null"],
)
def test_an_answer_that_is_not_for_each_token_is_refused(base, there, pauses, answer):
    one = trainer(base, there, pauses)
    model = one.backend.service.new_model(LORA, 0)

    def change(name: str, content: dict) -> None:
        if name == "retrieve_future":
            there.results[content["request_id"]] = answer

    there.before = change
    ids = torch.tensor([1, 2, 3, 4]).numpy()
    with pytest.raises(TrainerError) as caught:
        model.learn([Datum(ids, torch.zeros(3).numpy())])
    assert caught.value.code == "service_answer"
    model.close()


def test_sequences_go_in_requests_of_bounded_size_and_one_too_long_alone():
    def of(length: int) -> Datum:
        return Datum(torch.zeros(length).numpy(), torch.zeros(length - 1).numpy())

    parts = in_requests([of(100_000), of(31_072), of(2), of(200_000), of(2)])
    assert [[len(datum.ids) for datum in part] for part in parts] == [[100_000, 31_072], [2], [200_000], [2]]


def test_a_session_is_kept_alive_while_the_trainer_computes(there):
    beats = _Beats(ServiceHttp(there.url, KEY), "session-1", interval=0.01)
    assert there.beat.wait(60)
    beats.end()


@pytest.mark.parametrize(
    "url",
    [
        "http://tinker.example",
        "ftp://127.0.0.1",
        "https://",
        "https://user:word@tinker.example",
        "https://a/?key=b",
        "x",
    ],
)
def test_an_address_that_could_tell_the_key_is_refused(url):
    with pytest.raises(TrainerError) as caught:
        checked_url(url)
    assert caught.value.code == "config_tinker"


def test_several_ranks_are_refused(base, tmp_path, there):
    config = load_config(fixtures.write_config(tmp_path / "c.json", base.sha256, tinker={"model": "Random/Tiny"}))
    policy = new_policy(base, LORA, 0, None, None)
    two = Ranks(0, 2, torch.device("cpu"))
    with pytest.raises(TrainerError) as caught:
        join_service(policy, config, config.tinker, two, lambda _: None, lambda _: None)
    assert caught.value.code == "config_tinker" and there.log == []


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": {"temperature": 0.7}},
        {"lora": {"rsLora": True}},
        {"lora": {"targetModules": ["q_proj"]}},
        {"sharding": "layers"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_that_such_a_service_has_not_are_refused_and_not_left_out(base, tmp_path, settings):
    load_config(fixtures.write_config(tmp_path / "trainer.json", base.sha256, **settings))
    path = fixtures.write_config(tmp_path / "trainer.json", base.sha256, tinker={"model": "Random/Tiny"}, **settings)
    with pytest.raises(TrainerError) as caught:
        load_config(path)
    assert caught.value.code == "config_invalid"


class Bench:
    """A jobs with a worker whose gradients are made at a service."""

    def __init__(self, root: Path, base, rollouts, url: str) -> None:
        self.jobs, self.base, self.rollouts, self.url = JobDirectory(root / "jobs"), base, rollouts, url
        self.root = root
        self.out = io.StringIO()

    def put(self, name: str, parent: int, **overrides) -> None:
        sent = overrides.pop("rollouts", self.rollouts)
        fixtures.write_batch(self.jobs.root, name, sent, self.base.sha256, parent, **overrides)

    def work(self, **settings) -> None:
        chosen = {
            "loss": {"guard": 5.0, "drift": 1},
            "optimizer": {"lr": 0.01, "eps": 1e-4},
            "seed": 5,
            "tinker": {"model": "Random/Tiny", "url": self.url},
            **settings,
        }
        config = load_config(fixtures.write_config(self.root / "trainer.json", self.base.sha256, **chosen))
        worker = Worker(self.jobs, self.base, config, fixtures.alone(), Events(self.out), fixtures.UntilIdle())
        with pytest.raises(Stopped):
            worker.loop()

    def step(self, number: int) -> dict:
        return json.loads((self.jobs.step_path(number) / "step.json").read_text())

    def adapter(self, number: int) -> dict[str, torch.Tensor]:
        return load_file(self.jobs.step_path(number) / "adapter" / "adapter_model.safetensors")


@pytest.fixture
def bench(tmp_path, base, rollouts, there, monkeypatch):
    monkeypatch.setenv("TINKER_API_KEY", KEY)
    return Bench(tmp_path, base, rollouts, there.url)


def test_a_step_that_is_cut_off_after_the_update_is_made_again_from_the_saved_state(
    bench, there, tmp_path, base, rollouts
):
    bench.put("batch-1", 0)
    bench.work()
    bench.put("batch-2", 1)

    there.faults = {"save_weights_for_sampler": [400]}
    with pytest.raises(TrainerError, match="service_refused"):
        bench.work()
    assert there.models["run-2"].steps == 1 and bench.jobs.step_numbers() == [0, 1]

    bench.work()
    (tmp_path / "other").mkdir()
    quiet = StandIn(as_volunteers_run_it())
    other = Bench(tmp_path / "other", base, rollouts, quiet.url)
    for number in (1, 2):
        other.put(f"batch-{number}", number - 1)
        other.work()
    quiet.close()
    assert furthest(bench.adapter(2), other.adapter(2)) == 0
    assert bench.step(2)["stats"]["updates"] == 2


def test_a_step_says_by_which_service_it_was_made_and_the_operator_can_go_back(bench, there):
    bench.put("batch-1", 0)
    bench.put("batch-2", 1)
    bench.work()
    assert bench.step(0)["checks"]["adapterGap"] == 0
    assert bench.step(1)["recipe"]["settings"]["tinker"]["model"] == "Random/Tiny"
    assert bench.step(2)["stats"]["serviceGapMean"] < 1e-4
    bench.put("back", 2, manifest={"backTo": 1, "rollouts": []})
    bench.put("batch-3", 3)
    bench.work()
    assert bench.step(3)["adapterStep"] == 1 and furthest(bench.adapter(3), bench.adapter(1)) == 0
    # With the moments of the first step, too: the same batch makes the same second one.
    assert furthest(bench.adapter(4), bench.adapter(2)) == 0


def test_the_optimizer_does_not_change_its_place_within_a_run(bench):
    bench.work()
    with pytest.raises(TrainerError, match="continue with `tinker`"):
        bench.work(tinker={})


def test_a_run_that_began_here_does_not_go_on_at_a_service(bench):
    bench.work(tinker={})
    with pytest.raises(TrainerError, match="continue without `tinker`"):
        bench.work()


def test_a_state_that_the_service_keeps_no_more_is_an_error_that_names_it(bench, there):
    bench.work()
    there.states.clear()
    bench.put("batch-1", 0)
    with pytest.raises(TrainerError, match="tinker://run-0/weights/prove-1") as caught:
        bench.work()
    assert caught.value.code == "service_state"


@pytest.mark.parametrize(
    ("key", "model", "code"),
    [
        (None, "Random/Tiny", "config_tinker"),
        ("tml-wrong", "Random/Tiny", "service_key"),
        (KEY, "Random/Huge", "service_model"),
    ],
    ids=["no key", "a wrong key", "no such model"],
)
def test_a_service_that_is_of_no_use_is_an_error_before_any_step(bench, there, monkeypatch, key, model, code):
    monkeypatch.delenv("TINKER_API_KEY")
    if key:
        monkeypatch.setenv("TINKER_API_KEY", key)
    with pytest.raises(TrainerError) as caught:
        bench.work(tinker={"model": model, "url": there.url})
    assert caught.value.code == code and bench.jobs.step_numbers() == []


def test_the_key_is_in_no_log_no_error_no_event_and_no_file(bench, there, caplog):
    caplog.set_level(logging.DEBUG)
    bench.put("batch-1", 0)
    bench.work()
    there.words = f"your key {KEY} is out of order"
    there.faults = {"forward_backward": [400]}
    bench.put("batch-2", 1)
    with pytest.raises(TrainerError, match=r"your key \*\*\* is out of order") as caught:
        bench.work()
    there.faults = {"unload_model": [503], "session_heartbeat": [503] * 9}
    bench.work()
    said = caplog.text + bench.out.getvalue() + str(caught.value) + caught.value.detail
    assert "your key ***" in said and KEY not in said
    files = [path for path in bench.root.rglob("*") if path.is_file()]
    assert len(files) > 20 and not any(KEY.encode() in path.read_bytes() for path in files)
