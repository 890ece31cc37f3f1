import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { importFile } from '#lib/trace-file'
import { readImport, recording } from '../../kit/import-files.ts'
import { call, line, reply, result, SESSION, user } from './claude-code-lines.ts'

const work = recording('session-files/claude-code/work')
const read = (text: string) => readImport(claudeCode, text)

describe('a damaged session of Claude Code', () => {
  it('that breaks off in its last line loses that line alone, with a warning', () => {
    for (const cut of [1, 40, 400]) {
      const { runs, warnings } = read(work.trimEnd().slice(0, -cut))
      assert.equal(runs[0]?.spans, 10)
      assert.deepEqual(
        warnings.map(({ code, line: at }) => [code, at]),
        [['line_ignored', work.trimEnd().split('\n').length]],
      )
    }
    const text = user('Go.') + reply('a', [{ type: 'text', text: 'ü' }])
    const bytes = Buffer.from(text)
    assert.equal(readImport(claudeCode, bytes.subarray(0, bytes.indexOf('ü') + 1)).warnings[0]?.code, 'line_ignored')
  })

  it('that is there twice counts once', () => {
    assert.deepEqual(read(`${work}\n${work}`).runs, read(work).runs)
  })

  for (const [what, text, message] of [
    ['a broken line', `${user('Go.')}{"type":"user" "a"}\n${user('Go on.')}`, /^Line 2, column 16: expected/],
    ['a line that is no object', `${user('Go.')}[1]\n`, /^Line 2: There must be an object here/],
    [
      'negative usage',
      user('Go.') + reply('a', [], {}, { input_tokens: -1 }),
      /^Line 2, \/message\/usage\/input_tokens: "input_tokens" must be a number of tokens/,
    ],
    [
      'usage of another type',
      user('Go.') + reply('a', [], {}, { output_tokens: 'many' }),
      /^Line 2, \/message\/usage\/output_tokens/,
    ],
    [
      'a time that is none',
      user('Go.', { timestamp: 'yesterday' }),
      /^Line 1, \/timestamp: "timestamp" must be a time/,
    ],
    [
      'a message that is a text',
      line('assistant', 'hello' as unknown as object),
      /^Line 1, \/message: "message" must be an object/,
    ],
    [
      'two calls of one id',
      user('Go.') +
        reply('a', [call('x')]) +
        user([result('x')]) +
        reply('b', [call('x')]) +
        user([result('x')], { uuid: 'z' }),
      /^Line 4: There are two records of kind span with the id/,
    ],
  ] as const)
    it(`is refused with its line for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })

  it('without a request holds nothing, which is said', () => {
    for (const text of [`{"type":"summary","summary":"A title","leafUuid":"${SESSION}"}\n`, '{"type":"user","session'])
      assert.deepEqual([read(text).runs, read(text).warnings.at(-1)?.code], [[], 'nothing_found'])
  })

  it('is known by its first line', () => {
    for (const text of [
      work,
      user('Go.'),
      '{"type":"summary","summary":"A title","leafUuid":"x"}\n',
      user('Go.').slice(0, 100),
    ])
      assert.ok(claudeCode.accepts(importFile(text)))
    for (const text of ['', '{"type":"span","trace_id":"x"}', '{"sessionId":"x"}', '[{"type":"user","sessionId":"x"}]'])
      assert.ok(!claudeCode.accepts(importFile(text)), text)
  })
})
