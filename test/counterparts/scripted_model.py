"""Server of OpenAI's chat completions with scripted models, for programs that need a model behind a URL."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLY_TOOL = "reply_to_user"
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def text_of(content):
    """Return the text of a message's content, which may have parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def next_message(scripts, model, messages, tools):
    """
    Return the next message of a script in OpenAI's form.

    If the reply tool is offered, messages to a user who has more to say are calls of it.
    """
    opening = next(text_of(message["content"]) for message in messages if message["role"] == "user")
    script = next((one for one in scripts[model].values() if opening.endswith(one.opening)), None)
    if script is None:
        raise KeyError(f"no script begins with {opening!r}")
    at = sum(message["role"] == "assistant" for message in messages)
    if at >= len(script.messages):
        return {"role": "assistant", "content": "Done."}
    message = script.messages[at]
    calls, text = message.calls, message.text
    if not calls and at + 1 < len(script.messages) and REPLY_TOOL in tools:
        calls, text = ((REPLY_TOOL, json.dumps({"text": text})),), ""
    if not calls:
        return {"role": "assistant", "content": text}
    made = [
        {"id": f"call_{at}_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": made}


class ScriptedModel:
    """
    Server on a free port of this machine.

    Attributes:
        url: Base URL for clients of OpenAI's API.
        requests: Bodies of all requests, in order.
    """

    def __init__(self, scripts):
        self.requests = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                models = [{"id": mode, "object": "model", "created": 0, "owned_by": "test"} for mode in scripts]
                self._answer(200, "application/json", json.dumps({"object": "list", "data": models}))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if not self.path.endswith("/chat/completions"):
                    self._answer(404, "application/json", json.dumps({"error": {"message": f"no path {self.path}"}}))
                    return
                requests.append(body)
                tools = {tool["function"]["name"] for tool in body.get("tools") or ()}
                message = next_message(scripts, body["model"], body["messages"], tools)
                reason = "tool_calls" if message.get("tool_calls") else "stop"
                about = {"id": "chatcmpl-1", "created": 0, "model": body["model"]}
                if not body.get("stream"):
                    choice = {"index": 0, "message": message, "finish_reason": reason}
                    whole = {**about, "object": "chat.completion", "choices": [choice], "usage": USAGE}
                    self._answer(200, "application/json", json.dumps(whole))
                    return
                calls = [{**call, "index": i} for i, call in enumerate(message.get("tool_calls") or ())]
                delta = {**message, **({"tool_calls": calls} if calls else {})}
                parts = [
                    {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                    {"choices": [], "usage": USAGE},
                ]
                chunks = [json.dumps({**about, "object": "chat.completion.chunk", **part}) for part in parts]
                self._answer(200, "text/event-stream", "".join(f"data: {one}\n\n" for one in [*chunks, "[DONE]"]))

            def _answer(self, status, kind, text):
                data = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
