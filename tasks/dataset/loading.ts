import { recordsPath } from './manifest.js'
import { COLUMNS } from './parquet.js'

const DTYPES = { STRING: 'string', INT32: 'int32', BOOLEAN: 'bool' } as const

/** Types of the Parquet files' columns, as the front matter of the card declares them for `datasets`. */
export const FEATURES = COLUMNS.map(({ name, type }) => ({ name, dtype: DTYPES[type] }))

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
const structures = COLUMNS.filter(({ from }) => from === 'structure').map(({ name }) => name)

/** Returns the types of a record's scalar fields in Python. */
const scalars = (['STRING', 'INT32', 'BOOLEAN'] as const).map((wanted) => {
  const names = COLUMNS.filter(({ from, type }) => from === undefined && type === wanted).map(({ name }) => name)
  return `    **{name: Value("${DTYPES[wanted]}") for name in [${listed(names)}]},`
})

/** Paragraphs of the card about the loading of its files. A test runs the Python programs. */
export const LOADING = [
  `The Parquet files contain the same records as the JSON lines (\`${recordsPath('train')}\`): scalars as columns, and
\`messages\`, \`tools\`, \`ground_truth\`, \`facts\`, \`questions\`, \`environments\`, \`toolset\`, \`calls\` and \`metadata\` as JSON text, because columnar structures would
contain every argument of every tool.`,
  `\`\`\`python
import json
from datasets import load_dataset

data = load_dataset(folder, split="train")  # this folder, or the data set's name on the hub
row = data[0]
messages, tools = json.loads(row["messages"]), json.loads(row["tools"])
\`\`\``,
  `Messages have OpenAI's format, in which \`arguments\` of a call is JSON text. TRL and most chat templates need an object:`,
  `\`\`\`python
def for_trl(row):
    messages = json.loads(row["messages"])
    for message in messages:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return {"messages": messages, "tools": json.loads(row["tools"])}

examples = [for_trl(row) for row in data]  # trl: Dataset.from_list(examples, on_mixed_types="use_json")
\`\`\``,
  `The JSON lines need the types of their fields. Without them, \`datasets\` infers the types from the first lines, and fails at a later field that was empty there:`,
  `\`\`\`python
from datasets import Features, Json, Value

features = Features({
${scalars.join('\n')}
    **{name: Json() for name in [${listed(structures)}]},
})
files = {"train": f"{folder}/${recordsPath('train')}"}
lines = load_dataset("json", data_files=files, features=features)
messages = lines["train"][0]["messages"]  # not JSON text
\`\`\``,
  `For reinforcement learning, the reward compares calls with \`ground_truth\`, and \`environments\` (name and seed) reproduces the
initial states.`,
] as const
