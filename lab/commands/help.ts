import type { HelpTable } from '../../common/cli/index.js'

const [DATA, POLICIES, AUDITS] = ['Make and inspect data sets', 'Evaluate and compare policies', 'Calibrate audits']

/** Groups and examples of the commands. */
export const HELP: HelpTable = {
  synthesize: {
    group: DATA,
    examples: [
      'prove-lab synthesize --out my-tasks',
      'prove-lab synthesize --out my-tasks --examples 500 --environments banking,email --seed 7',
    ],
  },
  'dataset inspect': {
    group: DATA,
    examples: [
      'prove-lab dataset inspect my-tasks/data/train.jsonl',
      'prove-lab dataset inspect my-tasks/data/train.jsonl --index 3',
    ],
  },
  'dataset sample': {
    group: DATA,
    examples: ['prove-lab dataset sample my-tasks/data/train.jsonl --for-annotation > form.md'],
  },
  'dataset annotations': {
    group: DATA,
    examples: [
      'prove-lab dataset annotations my-tasks ann.md ben.md --annotators "two people who know the environments"',
    ],
  },
  'dataset baselines': { group: DATA, examples: ['prove-lab dataset baselines my-tasks'] },
  'dataset verify': {
    group: DATA,
    examples: ['prove-lab dataset verify my-tasks', 'prove-lab dataset verify my-tasks/data/train.jsonl'],
  },
  'dataset explain': {
    group: DATA,
    examples: ['prove-lab dataset explain errand', 'prove-lab dataset explain 12.0.3 --rejected rejected.jsonl'],
  },
  demonstrations: {
    group: DATA,
    examples: [
      'prove-lab demonstrations --count 1000 --corpus corpus.jsonl --chat-template chat.jinja',
      'prove-lab demonstrations --count 1000 --shards shards --model base.gguf',
    ],
  },
  eval: {
    group: POLICIES,
    examples: [
      'prove-lab eval --model base.gguf --adapter adapter.gguf --dataset my-tasks --out my-evaluation',
      'prove-lab eval --url http://127.0.0.1:8000/v1 --dataset my-tasks --tasks 50',
    ],
    notes: ['The first policy is the one with which the others are compared.'],
  },
  bfcl: {
    group: POLICIES,
    examples: ['prove-lab bfcl --model base.gguf --adapter adapter.gguf --cases 40'],
    notes: [
      'BFCL asks "prove-node serve" on this machine. The first run installs the package; later runs need no network.',
      "BFCL executes the calls of multi-turn cases with Python's eval: measure only adapters that you trust.",
    ],
  },
  profile: {
    group: POLICIES,
    examples: [
      'prove-lab profile --model base.gguf --dataset my-tasks',
      'prove-lab profile --model base.gguf --adapter warm.gguf --dataset my-tasks --label "warm start"',
    ],
    notes: ['A policy that is in the card already is replaced. With --adapter, the base model alone is omitted.'],
  },
  probe: { group: POLICIES, examples: ['prove-lab probe --dataset my-tasks --tasks 100'] },
  ablate: {
    group: POLICIES,
    examples: ['prove-lab ablate --model base.gguf --dataset my-tasks --out my-ablation --variants paper,outcome'],
  },
  calibrate: {
    group: AUDITS,
    examples: [
      'prove-lab calibrate --out calibration.json',
      'prove-lab calibrate --model base.gguf --dataset my-tasks --groups 800 --out calibration.json',
    ],
  },
}
