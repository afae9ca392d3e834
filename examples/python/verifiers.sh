#!/bin/sh
# Plays five tasks of a running `prove-server env` with a model at an OpenAI-compatible server on port 9001.
OPENAI_API_KEY=none vf-eval prove-worlds -n 5 -m my-model --no-push \
  --client.base-url http://127.0.0.1:9001/v1 --client.api-key-var OPENAI_API_KEY \
  --env.agent.harness.id null --env.agent.runtime.type subprocess --env.taskset.task.url http://127.0.0.1:8080
