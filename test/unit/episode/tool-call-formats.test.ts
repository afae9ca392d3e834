import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createEpisodeRuntime,
  EpisodeError,
  type Piece,
  rulesNamed,
  TOOL_CALL_FORMATS,
  toolCallFormatNamed,
} from '../../../rollout/episode/index.js'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { library } from '../../support/library-environment.js'
import { anyJson } from '../../support/reward-generators.js'
import { scriptTokenizer } from '../../support/scripted.js'

/** The contract of every tool-call format. Each entry of the table is tested here. */

const RUNS = { numRuns: 250, seed: 20260302 }
const foreign = (pieces: readonly Piece[]): string[] => pieces.flatMap((piece) => ('text' in piece ? [piece.text] : []))

for (const [key, toolCallFormat] of TOOL_CALL_FORMATS) {
  const { name, tags, turnEnd, parseCalls, argumentSpans, writeCall } = toolCallFormat
  /** Texts that try to be markup. */
  const hostile = fc.constantFrom(...tags, turnEnd, `"${tags[0]}"`, '\\<', '\\\\<', '"arguments":', '"}}', '}\n')
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), hostile)
  const value = fc.oneof(anyJson, text, fc.array(text), fc.dictionary(text, text))
  const args = fc
    .dictionary(text, value, { maxKeys: 4 })
    .map((given) => JSON.parse(JSON.stringify(given)) as JsonObject)
  const tool = fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/)

  test(`${name}: it is in the table by its name, and every markup it recognises is one`, () => {
    assert.is(key, name)
    assert.is(toolCallFormatNamed(name), toolCallFormat)
    assert.match(name, /^[a-z][a-z0-9.-]{0,31}$/)
    assert.ok(turnEnd.length > 0 && tags.every((tag) => tag.length > 0))
  })

  test(`${name}: a call that was written is read back, whatever its arguments, with the end of the turn or without`, () => {
    fc.assert(
      fc.property(tool, args, (called, given) => {
        const message = writeCall(called, given)
        const call = { name: called, arguments: given }
        assert.equal(parseCalls(message), [call])
        assert.equal(parseCalls(message + turnEnd), [call])
      }),
      RUNS,
    )
  })

  test(`${name}: a call without its last bracket is malformed, and so is one that breaks off before its end`, () => {
    fc.assert(
      fc.property(tool, args, fc.nat(), (called, given, cut) => {
        const message = writeCall(called, given)
        const bracket = Math.max(message.lastIndexOf('}'), message.lastIndexOf(')'))
        const [broken, ...others] = parseCalls(message.slice(0, bracket) + message.slice(bracket + 1))
        assert.is(broken?.malformed, true)
        assert.equal(others, [])
        const head = parseCalls(message.slice(0, cut % message.length))
        assert.ok(head.every(({ malformed }) => malformed === true))
      }),
      RUNS,
    )
  })

  test(`${name}: the span of a written call's arguments lies in the call and holds them`, () => {
    fc.assert(
      fc.property(tool, args, (called, given) => {
        const message = writeCall(called, given)
        const spans = argumentSpans(message + turnEnd)
        assert.is(spans.length, 1)
        const [[start, end]] = spans as [readonly [number, number]]
        assert.ok(start >= 0 && start <= end && end <= message.length)
        for (const part of Object.keys(given)) {
          const written = JSON.stringify(part).slice(1, -1).replaceAll('<', '\\u003c')
          assert.ok(message.slice(start, end).replaceAll('<', '\\u003c').includes(written), part)
        }
      }),
      RUNS,
    )
  })

  test(`${name}: no message makes it throw, and its spans are in order and within the message`, () => {
    const piece = fc.oneof(text, fc.constantFrom('{', '}', '[', ']', '"name":"pay"', '"arguments":', '\ud800', '\n'))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const message = pieces.join('')
        for (const call of parseCalls(message)) assert.ok(call.malformed === true || call.name.length > 0)
        let before = 0
        for (const [start, end] of argumentSpans(message)) {
          assert.ok(before <= start && start <= end && end <= message.length)
          before = end
        }
      }),
      RUNS,
    )
  })

  test(`${name}: a result is one piece of text, the same JSON value, and spells no tag`, () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), (results) => {
        const payloads = results.map((result) => JSON.stringify(result))
        const texts = foreign(toolCallFormat.toolResults(payloads))
        assert.is(texts.length, payloads.length)
        for (const [i, said] of texts.entries()) {
          assert.equal(JSON.parse(said), JSON.parse(payloads[i]!))
          for (const tag of tags) assert.not(said.includes(tag), tag)
        }
      }),
      RUNS,
    )
  })

  test(`${name}: a user turn is unchanged, and the markup around it is the same for all turns`, () => {
    fc.assert(
      fc.property(text, (said) => {
        const pieces = toolCallFormat.userTurn(said)
        assert.equal(foreign(pieces), [said])
        const markup = (of: readonly Piece[]): Piece[] => of.filter((piece) => 'markup' in piece)
        assert.equal(markup(pieces), markup(toolCallFormat.userTurn('')))
      }),
      RUNS,
    )
  })

  test(`${name}: text that spells one of its tags reaches no prompt, also where the vocabulary does not know the tag`, () => {
    const tokenizer = { ...scriptTokenizer(), reservedTags: [] }
    const { renderer } = createEpisodeRuntime(
      [library],
      tokenizer,
      rulesNamed({ toolCallFormat: name, reward: 'paper' }),
    )
    for (const tag of tags) {
      for (const say of [
        () => renderer.userTurn(`Note ${tag}.`),
        () => renderer.firstPrompt([], `Note ${tag}.`),
        () => renderer.firstPrompt([], 'Note it.', `You are ${tag}.`),
      ]) {
        assert.throws(say, (error: unknown) => error instanceof EpisodeError && error.code === 'reserved_tag')
      }
    }
  })
}

test('an unknown tool-call format is refused with the known ones', () => {
  for (const name of ['qwen3', '', 'constructor', 'Hermes']) {
    assert.throws(
      () => rulesNamed({ toolCallFormat: name, reward: 'paper' }),
      (error: unknown) =>
        error instanceof EpisodeError &&
        error.code === 'unknown_tool_call_format' &&
        error.message.endsWith(`choose one of ${[...TOOL_CALL_FORMATS.keys()].join(', ')}`),
    )
  }
})

test.run()
