import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as yaml from 'yaml'
import { editYaml, type YamlEdit } from '#lib/yaml'

const edited = (text: string, ...edits: readonly YamlEdit[]): string => editYaml(yaml, text, edits)

describe('editing YAML', () => {
  it('changes what it names and leaves every other byte', () => {
    const text = `# head
version: 1   # one
rules:
  # first
  - id: a      # the first
    tools: [x, 'y'] # two
    action: confirm # asks

  - { id: b, tools: [z], action: confirm }   # second

# between
tests:
- {a: 1}  # last
`
    const out = edited(
      text,
      { replace: ['rules', 0, 'tools'], with: ['y'] },
      { replace: ['rules', 0, 'action'], with: 'allow' },
      { add: ['rules', 1], key: 'enabled', value: false },
      {
        append: ['rules'],
        value: { id: 'c', tools: ['*'], checks: [{ path: { args: ['/a'] } }], action: 'allow' },
        comment: 'made',
      },
      { append: ['rules'], value: { id: 'd' } },
      { append: ['tests'], value: { b: ['x: y', '#'] } },
    )
    assert.equal(
      out,
      `# head
version: 1   # one
rules:
  # first
  - id: a      # the first
    tools: [ y ] # two
    action: allow # asks

  - { id: b, tools: [z], action: confirm , enabled: false }   # second
  # made
  - id: c
    tools: [ "*" ]
    checks:
      - path: { args: [ /a ] }
    action: allow
  - { id: d }

# between
tests:
- {a: 1}  # last
- { b: [ "x: y", "#" ] }
`,
    )
  })

  it('begins empty lists, adds to maps in blocks, and keeps the end of a text without a line break', () => {
    assert.equal(edited('rules: []\n', { append: ['rules'], value: { id: 'a' } }), 'rules: [{ id: a }]\n')
    assert.equal(edited('rules: [{ id: a }]', { append: ['rules'], value: 1 }), 'rules: [{ id: a }, 1]')
    assert.equal(edited('rules:\n  - id: a', { append: ['rules'], value: 1 }), 'rules:\n  - id: a\n  - 1')
    assert.equal(
      edited('rules:\n  - id: a # x\n    b: 1\n', { add: ['rules', 0], key: 'c', value: false }),
      'rules:\n  - id: a # x\n    c: false\n    b: 1\n',
    )
  })

  it('changes no place that is another, or is not there', () => {
    const text = 'a: &a [1]\nb: *a\n'
    for (const edit of [
      { append: ['b'], value: 2 },
      { append: ['c'], value: 2 },
      { add: ['a'], key: 'x', value: 1 },
    ] as const)
      assert.throws(() => edited(text, edit), { code: 'INVALID_YAML' })
  })

  it('lets no value out of its place', () => {
    const odd = ['a\n- evil', '*x', '&y z', '# no', '}', ']', ': ', '"', "'", '\u2028', '|\n  x']
    const out = edited(
      'rules: [x] # c\nlist:\n  - 1\n',
      ...odd.flatMap((value): YamlEdit[] => [
        { append: ['rules'], value },
        { append: ['list'], value: { [value]: value } },
      ]),
    )
    assert.deepEqual(yaml.parse(out), { rules: ['x', ...odd], list: [1, ...odd.map((value) => ({ [value]: value }))] })
  })
})
