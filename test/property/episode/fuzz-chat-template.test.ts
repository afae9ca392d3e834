import { Template } from '@huggingface/jinja'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createChatTemplate, EpisodeError, MAX_TEMPLATE_CHARS } from '../../../rollout/episode/index.js'

/** The ways of templates in use: namespaces, reversed lists, slices, splitting, macros, JSON, whitespace control. */
const THINKING = `{%- macro fields(schema, level=0) -%}
{%- for name, property in schema.properties.items() %}{{ '  ' * 0 if false else '' }}- {{ name }} ({{ property.type | default('any') }}){{ '\\n' }}
{%- if property.properties is defined %}{{ fields(property, level + 1) }}{% endif %}{%- endfor %}
{%- endmacro %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- "# Tools\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}{{- tool | tojson }}{{ tool | tojson(indent=2) }}{{ fields(tool.function.parameters) }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}{%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' ~ message.role ~ '\\n' ~ (reasoning_content | trim | upper) ~ content.replace('a', 'b') | indent(4, first=true) }}
        {%- for call in message.tool_calls | default([]) %}{{- call.function.name }}{%- if call.function.arguments is string %}{{- call.function.arguments }}{%- else %}{{- call.function.arguments | tojson(ensure_ascii=False) }}{%- endif %}{%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {{- '<tool_response>' + content + '</tool_response>' if loop.last or (messages[loop.index0 + 1].role != "tool") else content }}
    {%- endif %}
{%- endfor %}
{%- for role in messages | map(attribute='role') | unique | sort %}{{ role }}{{ ', ' if not loop.last }}{% endfor %}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ range(3) | join('-') }}{{ tools[0].function.parameters.properties | dictsort | first | last | tojson if tools }}
{%- call(x) [messages][0] | length and caller_name or caller_name %}{{ x }}{% endcall %}`.replace(
  /\{%- call[\s\S]*$/,
  "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}",
)

const property = { type: 'string', description: 'Where the flight goes', enum: ['OSL', 'KRK'] }
const tool = (i: number) => ({
  type: 'function',
  function: {
    name: `book_flight_${i}`,
    description: 'Books a seat. '.repeat(8),
    parameters: {
      type: 'object',
      properties: {
        to: property,
        seat: { type: 'integer', maximum: 1_000_000_000 },
        who: { properties: { id: property } },
      },
      required: ['to'],
    },
  },
})
const conversation = (tools: number) => ({
  messages: [
    { role: 'system', content: 'Today is 2025-03-01.' },
    { role: 'user', content: 'Book the morning flight to Oslo. '.repeat(100) },
    {
      role: 'assistant',
      content: '<think>\nlet me see</think>\nI can do that',
      tool_calls: [{ function: { name: 'b', arguments: { to: 'OSL' } } }],
    },
    { role: 'tool', content: '{"ok":true}' },
    { role: 'tool', content: '{"ok":false}' },
  ],
  tools: Array.from({ length: tools }, (_, i) => tool(i)),
  add_generation_prompt: true,
})

/** What came of a template: its text, or the code of its refusal. Any other error passes through and fails the test. */
function outcome(
  source: string,
  input: Record<string, unknown> = conversation(2),
): {
  text?: string
  code?: string
  reason?: string
} {
  try {
    return { text: createChatTemplate(source).render(input) }
  } catch (why) {
    if (why instanceof EpisodeError) return { code: why.code, reason: why.message }
    throw why
  }
}

test('an honest template comes out as the library renders it, also with as many tools as a task may have', () => {
  for (const tools of [0, 1, 64]) {
    const input = conversation(tools)
    assert.is(createChatTemplate(THINKING).render(input), new Template(THINKING).render(input))
  }
})

test('forms that templates in use have come out as the library renders them', () => {
  for (const source of [
    "{% macro greet(name, mark='!') %}Hello {{ name }}{{ mark }}{% endmacro %}{{ greet('Ada') }}{{ greet('Bo', mark='?') }}",
    '{% macro box() %}[{{ caller(2) }}]{% endmacro %}{% call(n) box() %}{{ n + 1 }}{% endcall %}',
    '{% filter upper %}all of {{ messages[1].role }}{% endfilter %}{% filter replace("a", "oo") %}banana{% endfilter %}',
    '{% set text %}kept {{ messages | length }}{% endset %}{{ text }}{{ "x" if false }}',
    '{% for m in messages if m.role == "tool" %}{{ loop.index }}{{ m.content }}{% if loop.first %}{% continue %}{% endif %}{% break %}{% else %}none{% endfor %}',
    '{{ {"b": [1, 2.5, none, true], "a": "é"} | tojson(sort_keys=true, separators=(",", ":")) }}{{ [3, 1, 2] | sort(reverse=true) }}',
    '{{ "a,b,c".split(",", 1) }}{{ ["x", "y"] | join(", ") }}{{ "abc"[1:] }}{{ messages[-1].content }}{{ "k" in {"k": 1} }}{{ "b" in "abc" }}',
    '{% set a, b = [1, 2] %}{{ a ~ b }}{{ a * 3 - b // 2 }}{{ -a }}{{ not a }}{{ 2 ** 8 }}{{ "7" | int + 1 }}{{ messages[0].get("name", "?") }}',
    '{{ namespace(x=1).x }}{% set ns = namespace() %}{% set ns.y = [1] + [2] %}{{ ns.y | length }}{{ messages.content is defined }}',
    '{% if messages[0].content.strip is defined %}{{ messages[0].content.strip() | title }}{% endif %}',
  ])
    assert.is(outcome(source).text, new Template(source).render(conversation(2)), source)
})

test('the clock is not available: node and coordinator would render different prompts', () => {
  assert.is(outcome('{{ strftime_now is defined }}').text, 'false')
  assert.is(outcome("{{ strftime_now('%Y') }}").code, 'bad_template')
})

/** [what it would do, the template]: each of them hangs, or eats all memory, under the library alone. */
const ATTACKS: readonly (readonly [string, string])[] = [
  ['count to a trillion', '{% for i in range(10 ** 12) %}{% endfor %}'],
  ['count without moving', '{{ range(10 ** 17, 10 ** 18) }}'],
  ['nest loops', `${'{% for i in range(4000) %}'.repeat(6)}x${'{% endfor %}'.repeat(6)}`],
  ['double a list', `{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}`],
  ['double a text', `{% set ns = namespace(a='ab') %}{% for i in range(60) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}`],
  [
    'laugh a billion times',
    `{% set ns = namespace(a=['ha']) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}`,
  ],
  ['contain itself', '{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}'],
  ['contain itself twice, in JSON', '{% set ns = namespace() %}{% set ns.a = [ns, ns] %}{{ [ns] | tojson }}'],
  ['compare with itself as text', '{% set ns = namespace() %}{% set ns.a = [ns, ns] %}{{ [ns, ns] == "x" }}'],
  [
    'print itself as it grows',
    `{% set ns = namespace(a=[1]) %}{% set ns.b = ns.a %}{% for i in range(4000) %}{% set ns.a = [ns.a, 1] %}{% endfor %}`,
  ],
  ['recurse', '{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}'],
  [
    'recurse in two branches',
    '{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}',
  ],
  ['replace by more', `{% set a = 'a' * 1 if false else '${'a'.repeat(30_000)}' %}{{ a.replace('a', a) }}`],
  ['replace by more, as a filter', `{% set a = '${'a'.repeat(30_000)}' %}{{ a | replace('a', a) }}`],
  [
    'replace by more, in a block',
    `{% set a = '${'a'.repeat(30_000)}' %}{% filter replace('a', a) %}{{ a }}{% endfilter %}`,
  ],
  ['replace by more, unpacked', `{% set a = '${'a'.repeat(30_000)}' %}{{ a.replace(*['a', a]) }}`],
  ['put a method aside', `{% set a = '${'a'.repeat(30_000)}' %}{% set f = a.replace %}{{ f('a', a) }}`],
  ['put a method aside in a list', `{% set a = '${'a'.repeat(30_000)}' %}{{ [a.replace][0]('a', a) }}`],
  ['join by much', `{{ range(4000) | join('${'-'.repeat(50_000)}') }}`],
  ['separate by much', `{{ range(4000) | tojson(separators=('${'-'.repeat(50_000)}', ':')) }}`],
  ['indent JSON by much', '{{ messages | tojson(indent=10 ** 8) }}'],
  ['indent a text by much', '{{ messages[1].content | indent(10 ** 9, true) }}'],
  ['indent by much, unpacked', '{{ messages[1].content | indent(*[10 ** 9, true]) }}'],
  [
    'sort what is long',
    `{% set a = '${'a'.repeat(60_000)}' %}{% set ns = namespace(l=[a]) %}{% for i in range(14) %}{% set ns.l = ns.l + ns.l %}{% endfor %}{{ ns.l | sort | length }}`,
  ],
  ['sort by a long path', `{{ range(4000) | sort(attribute='${'.'.repeat(100_000)}') }}`],
  [
    'search where nothing is found',
    `{% set a = '${'a'.repeat(60_000)}' %}{% for i in range(4000) %}{{ (a ~ 'b') in (a ~ a) }}{% endfor %}`,
  ],
  [
    'define macros for ever',
    `{% for i in range(4000) %}{% for j in range(4000) %}{% macro m() %}${'{{ x }}'.repeat(5000)}{% endmacro %}{% endfor %}{% endfor %}`,
  ],
  ['print much, often', `{% for i in range(4000) %}${'x'.repeat(60_000)}{% endfor %}`],
  ['nest brackets', `{{ ${'['.repeat(60_000)} }}`],
  ['nest parentheses', `{{ ${'('.repeat(40_000)}1${')'.repeat(40_000)} }}`],
  ['nest blocks', `${'{% if true %}'.repeat(4000)}${'{% endif %}'.repeat(4000)}`],
  ['chain operators', `{{ 1${' + 1'.repeat(20_000)} }}`],
  ['indent the source', `${' '.repeat(130_000)}{{ 1 }}`],
  ['be long', 'x'.repeat(MAX_TEMPLATE_CHARS + 1)],
]

for (const [what, source] of ATTACKS) {
  test(`a template cannot ${what}`, () => {
    const before = process.memoryUsage().rss
    const started = process.cpuUsage()
    const { code, reason } = outcome(source)
    assert.is(code, 'bad_template')
    // Not for a slip of this test.
    assert.not.match(reason ?? '', /Parser Error|Unexpected|Unknown/)
    const { user } = process.cpuUsage(started)
    assert.ok(user < 5e6, `${user / 1e6} s`)
    assert.ok(process.memoryUsage().rss - before < 600e6, 'memory')
  })
}

test('a template as long as allowed is read', () => {
  assert.is(outcome('x'.repeat(MAX_TEMPLATE_CHARS)).text?.length, MAX_TEMPLATE_CHARS)
})

test('templates of random parts are rendered as the library does, or refused', () => {
  const part = fc.constantFrom(
    ...['{{', '}}', '{%', '%}', '{%-', '-%}', '{#', '#}', ' ', '\n', '(', ')', '[', ']', '{', '}', '"', "'", '\\', ':'],
    ...['if', 'else', 'elif', 'endif', 'for', 'in', 'endfor', 'set', 'endset', 'macro', 'endmacro', 'call', 'endcall'],
    ...[
      'filter',
      'endfilter',
      'generation',
      'messages',
      'tools',
      'loop',
      'x',
      '1',
      '2.5',
      '-',
      '+',
      '~',
      '|',
      '.',
      ',',
    ],
    ...[
      '*',
      '**',
      '//',
      '%',
      '==',
      'is',
      'not',
      'and',
      'or',
      'defined',
      'tojson',
      'length',
      'first',
      'join',
      'content',
    ],
    ...['__proto__', 'constructor', 'namespace', '=', 'true', 'none', 'é', '\ud800', '\0', '[::-1]', '[0]'],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const source = parts.join('')
      const { text, code } = outcome(source)
      if (text === undefined) assert.is(code, 'bad_template')
      else assert.is(text, new Template(source).render(conversation(2)), source)
    }),
    { seed: 401, numRuns: 2000 },
  )
})

test('a real template with a part cut out, doubled or moved is rendered as the library does, or refused', () => {
  const place = fc.nat(THINKING.length)
  fc.assert(
    fc.property(place, place, place, fc.boolean(), (a, b, c, keep) => {
      const [from, to] = a < b ? [a, b] : [b, a]
      const piece = THINKING.slice(from, Math.min(to, from + 200))
      const rest = keep ? THINKING : THINKING.slice(0, from) + THINKING.slice(from + piece.length)
      const source = rest.slice(0, c) + piece + rest.slice(c)
      const { text, code } = outcome(source)
      if (text === undefined) assert.is(code, 'bad_template')
      else assert.is(text, new Template(source).render(conversation(2)))
    }),
    { seed: 403, numRuns: 300 },
  )
})

test.run()
