import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type ResultSummary, resultSummary } from '../../../../../plugins/lib/request-reader/conversation/tool-calls.ts'
import { unframeResult } from '../../../../../plugins/lib/request-reader/results/unframe-result.ts'

interface Recorded {
  readonly case: string
  readonly result: unknown
  readonly is_error?: boolean
}

const commands = ['shell_exit_2', 'shell_exit_2_ls', 'shell_fail_1', 'shell_not_found', 'shell_exit_2_json']
const failing = [
  ...commands,
  ...['read_missing', 'edit_not_found', 'edit_same', 'schema_error', 'unknown_tool', 'shell_timeout'],
]
const passing = [
  ...['shell_ok', 'shell_check', 'shell_long_output', 'edit_1', 'edit_2', 'write_new', 'write_over', 'read_ok'],
  ...['search_hit', 'shell_ok_json', 'shell_check_json', 'edit_1_json'],
]

/** Failures that a client does not tell: a command's code, an edit without a difference, a command that continues in the background. */
const untold = new Set([
  ...['opencode', 'kilo'].flatMap((client) => commands.map((name) => `${client} ${name}`)),
  'claude-code shell_timeout',
  'cline edit_same',
  'copilot shell_timeout',
])

const printOf = (text: string, flagged: boolean | null = null): ResultSummary => resultSummary(text, '', flagged)

const REMINDERS = /\s*<system-reminder>[\s\S]*?<\/system-reminder>/g

/** What a client's results are to the rules, by their cases; what is no text is left out. */
const printsOf = (results: readonly Recorded[]): ReadonlyMap<string, ResultSummary> => {
  const prints = new Map<string, ResultSummary>()
  for (const { case: name, result, is_error = null } of results) {
    const text = textOf(result)
    if (text !== undefined) prints.set(name, printOf(text.replace(REMINDERS, ''), is_error))
  }
  return prints
}

/** Of a text, or of a list of text parts. */
const textOf = (result: unknown): string | undefined => {
  if (typeof result === 'string') return result
  if (Array.isArray(result)) return result.map((part) => part.text ?? '').join(' ')
  const { output, error } = (result ?? {}) as { readonly output?: string; readonly error?: string }
  return output ?? error
}

const folder = new URL('../../../../data/result-frames/', import.meta.url)

/** What real clients sent back for the same calls. */
const recordings = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))

describe('results as clients frame them', () => {
  for (const { client, results } of recordings) {
    const prints = printsOf(results)
    it(`of ${client}: silence is no result`, () => {
      for (const name of ['shell_silent', 'shell_silent_json'])
        assert.equal(prints.get(name)?.result ?? null, null, name)
    })
    it(`of ${client}: a failure has failed, and says something`, () => {
      for (const name of failing.filter((one) => prints.has(one) && !untold.has(`${client} ${one}`))) {
        const { result, error, passed } = prints.get(name) ?? {}
        assert.deepEqual([error, passed, result === null], [true, false, false], name)
      }
    })
    it(`of ${client}: what went well has not failed`, () => {
      for (const name of passing) assert.notEqual(prints.get(name)?.error, true, name)
    })
  }
  it('are recorded of all clients that are known', () => {
    assert.ok(recordings.length >= 10)
    for (const { client, results } of recordings) assert.ok(printsOf(results).size > 10, client)
  })
  it('are read after several frames', () => {
    const nested = 'Wall time: 0.1 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno such file\n'
    assert.deepEqual(unframeResult(nested), { body: 'no such file\n', failed: true })
  })
  it('say that a command did not fail where the client says so', () => {
    assert.equal(printOf('Chunk ID: a\nProcess exited with code 0\nOutput:\nall 12 tests passed').passed, true)
    assert.equal(printOf('0 issues.', false).passed, true)
    assert.equal(printOf('x'.repeat(300)).passed, false)
    assert.equal(printOf('x'.repeat(300), false).passed, true)
    assert.equal(printOf('Exit code 2\n0 issues.', false).passed, false)
  })
  it('take a short answer that nothing calls a failure for a good one', () => {
    assert.equal(printOf('0 issues.').passed, true)
    assert.equal(printOf('Tool x not found').passed, false)
  })
  it('say that something is still in progress', () => {
    const answers = [
      '{"id":7,"state":"running","log":[]}',
      '<status>in_progress</status>',
      'id: bgp_1\nstatus: running\npid: 7',
      'The job is still running.',
      'Process running with session ID 96007',
    ]
    for (const text of answers) assert.equal(printOf(text).pending, true, text)
    for (const text of ['{"state":"done"}', 'running tests', 'exit status 0', `"status":"running"${'x'.repeat(3000)}`])
      assert.equal(printOf(text).pending, false, text)
  })
  it('are equal where only the frame differs', () => {
    const one = printOf(
      'Chunk ID: aaaaaa\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nhello',
    )
    const other = printOf(
      'Chunk ID: bbbbbb\nWall time: 7.0 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\nhello',
    )
    assert.equal(one.result, other.result)
    assert.equal(printOf('<returncode>0</returncode>\n<output>\nhello\n</output>').result, one.result)
  })
  it('keep words that only look like a frame', () => {
    for (const text of [
      'The exit was easy',
      '<output>a</output>',
      '{"result": 1}',
      '(no output yet)',
      'Output:',
      '[]',
      '{}',
    ]) {
      const { result, error } = printOf(text)
      assert.notEqual(result, null, text)
      assert.equal(error, false, text)
    }
  })
  it('are read of anything, however long', () => {
    for (const piece of [
      '<returncode>',
      'Command: ',
      'Exit Code: ',
      'Wall time: x\n',
      '[{"query":',
      '<shell_metadata>',
      'Path a',
      '\nError: ',
      ' ',
      '\u0000',
      '💥',
    ])
      for (const text of [piece.repeat(1_000_000), `${piece}${'x'.repeat(10_000_000)}`]) unframeResult(text)
  })
})
