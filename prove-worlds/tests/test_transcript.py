"""Conversations of agents that can only call tools, as messages of the model."""

from prove_worlds.episode import message
from prove_worlds.offering import transcript


def test_each_message_keeps_its_text_and_its_calls():
    said = [("I look it up.", [("find", '{"name": "Ben"}'), ("find", {"name": "Ann"})]), ("Done.", [])]
    assert transcript(said, "") == [
        {
            "text": "I look it up.",
            # The server parses the JSON text of arguments.
            "calls": [{"name": "find", "arguments": '{"name": "Ben"}'}, {"name": "find", "arguments": {"name": "Ann"}}],
        },
        {"text": "Done.", "calls": []},
    ]


def test_a_call_of_the_reply_tool_ends_a_message():
    said = [("Hm.", [("find", {}), ("reply_to_user", {"text": "Here."}), ("find", {})])]
    assert transcript(said, "reply_to_user") == [
        {"text": "Hm.", "calls": [{"name": "find", "arguments": {}}]},
        {"text": "Here.", "calls": []},
        {"text": "", "calls": [{"name": "find", "arguments": {}}]},
    ]


def test_the_text_next_to_a_call_of_the_reply_tool_is_put_before_its_own():
    assert transcript([("Hm.", [("reply_to_user", '{"text": "Here."}')])], "reply_to_user") == [message("Hm.\nHere.")]


def test_what_cannot_be_written_as_json_is_an_unreadable_call():
    for arguments in ({"x": float("nan")}, {"x": object()}):
        assert message("", [("find", arguments)])["calls"] == [{"unreadable": "find"}]


def test_a_call_of_the_reply_tool_with_wrong_arguments_stays_a_call():
    wrong = transcript([("", [("reply_to_user", {"text": 1})])], "reply_to_user")
    assert wrong == [message("", [("reply_to_user", {"text": 1})])]
