import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { wordedError } from 'guard-gateway/plugins/detectors/worded-error'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, result, says, step, turn, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) => {
  const seen = conversation(items)
  const measured = wordedError.measure?.(call({ conversation: seen }), new Map())
  return evidence(wordedError, 'a', { rule, turns: seen.turns, row: { measures: { worded_error: measured } } })
}
const detect = (items: readonly Item[], rule = {}) => wordedError.detect(shown(items, rule)) as Finding | undefined
const repeat = (count: number, of: (n: number) => readonly Item[]): Item[] =>
  Array.from({ length: count }, (_, n) => of(n)).flat()
const told = (count: number, text: (n: number) => string, tool = 'create_file') =>
  repeat(count, (n) => step(tool, { path: `src/${n}.ts` }, text(n)))

/** The same complaint, about something else each time. */
const complaints: Readonly<Record<string, (n: number) => string>> = {
  'an MCP server': () => 'MCP error -32602: Invalid arguments for tool create_file: content: Required',
  'a file system': (n) => `Error: ENOENT: no such file or directory, open '/app/src/${n}.ts'`,
  'an interface that says so in JSON': (n) => `{"error":"Invalid API key","request":${n}}`,
  'a flag in JSON': (n) => `{"success":false,"row":${n}}`,
  'words in JSON': (n) => `{"text":"access denied","row":${n}}`,
  'a status': (n) => `{"object":"error","status":400,"message":"path_${n} failed"}`,
  'a harness around it': (n) =>
    `The result of that command is:\n Command write_fix returned: Error: line ${n} is missing`,
  Python: (n) => `Traceback (most recent call last):\n  File "/app/${n}.py", line ${n}`,
}

detectorConforms(wordedError, shown(told(4, () => 'Error: no such table')))

describe('worded_error: 4 equal complaints in a row', () => {
  for (const [who, text] of Object.entries(complaints)) {
    it(`knows the same complaint of ${who}`, () => {
      assert.equal(detect(told(3, text)), undefined)
      assert.deepEqual(detect(told(4, text)), {
        message: 'the same complaint came in 4 tool turns in a row',
        evidence: 'history',
        count: 4,
        tool: 'create_file',
        where: [{ turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
        results_equal: true,
      })
    })
  }
  it('is silent where complaints differ, or come from other tools', () => {
    const kinds = ['no such table', 'syntax problem near FROM', 'permission refused', 'deadlock found', 'timeout']
    assert.equal(detect(told(5, (n) => `Error: ${kinds[n]}`)), undefined)
    assert.equal(detect(repeat(6, (n) => step(n % 2 === 0 ? 'read' : 'write', { n }, 'Error: no'))), undefined)
  })
  it('is silent about answers that complain of nothing', () => {
    assert.equal(detect(told(6, () => 'No matches')), undefined)
    assert.equal(detect(told(6, () => '{"error": "", "response": ""}')), undefined)
    assert.equal(detect(told(6, () => `${'const a = 1\n'.repeat(40)}throw new Error()`)), undefined)
  })
  it('is ended by a turn that succeeds, not by words', () => {
    const bad = () => 'Error: no such table'
    assert.equal(detect([...told(3, bad), ...step('create_file', {}, 'done'), ...told(3, bad)]), undefined)
    assert.equal(detect([...told(2, bad), says('Hm.'), ...told(2, bad)])?.count, 4)
  })
  it('is ended by a user message, unless the rule says otherwise', () => {
    const items = [...told(3, () => 'Error: no'), user('try this'), ...told(3, () => 'Error: no')]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { reset_on_user_message: false } })?.count, 6)
  })
  it('finds the complaint among calls of one turn', () => {
    const both = (n: number): Item[] => {
      const calls = [called('read', { n }), called('write', { n })]
      return [turn(...calls), result(calls[0]?.id ?? '', `line ${n}`), result(calls[1]?.id ?? '', 'Error: read only')]
    }
    assert.equal(detect(repeat(4, both))?.count, 4)
  })
})
