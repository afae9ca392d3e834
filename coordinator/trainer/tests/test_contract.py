import json

import pytest
from prove_trainer.config import parse_config
from prove_trainer.contract import CONTRACT, contract, outline
from prove_trainer.fields import Fields


def test_the_contract_on_disk_is_what_this_package_does():
    """If not: `PYTHONPATH=coordinator/trainer .venv/bin/python -m prove_trainer.contract`, then its other side."""
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == json.loads(json.dumps(contract()))


def test_an_outline_holds_for_the_parser_it_was_drawn_from():
    def fail(detail: str) -> Exception:
        return ValueError(detail)

    schema = outline(parse_config)
    content = {"schema": 1, "baseSha256": "ab" * 32}
    assert schema["required"] == list(content)
    for name, field in schema["properties"].items():
        if "default" in field:
            parse_config(Fields({**content, name: field["default"]}, "config", fail))
        if field.get("type") in ("integer", "number") and name != "schema":
            for bound in ("minimum", "maximum"):
                parse_config(Fields({**content, name: field[bound]}, "config", fail))
            with pytest.raises(ValueError, match=name):
                parse_config(Fields({**content, name: field["maximum"] + 1}, "config", fail))
