import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as yaml from 'yaml'
import { parserProcess } from '#lib/parser-process'
import { GuardError } from '../../../core/errors.ts'
import { readYaml } from '../../../plugins/lib/yaml/reader.ts'
import { readLongYaml, SHORT_CHARS } from '../../../plugins/lib/yaml.ts'
import { withoutProcesses } from '../../kit/no-processes.ts'

const refusal = (text: string, options?: { max_bytes?: number }): GuardError => {
  try {
    readYaml(yaml, text, options)
  } catch (error) {
    assert.ok(error instanceof GuardError)
    assert.equal(error.code, 'INVALID_YAML')
    return error
  }
  return assert.fail(`accepted: ${text.slice(0, 80)}`)
}
const placeOf = (text: string): readonly unknown[] => [refusal(text).place.line, refusal(text).place.column]

describe('readYaml', () => {
  it('reads one YAML 1.2 document', () => {
    const { value } = readYaml(
      yaml,
      'server:\n  port: 8787\n  hosts: [a, b]\nmode: yes\nlow: 010\n"<<": x\nsame: &s {a: 1}\nagain: *s\n',
    )
    assert.deepEqual(value, {
      server: { port: 8787, hosts: ['a', 'b'] },
      mode: 'yes',
      low: 10,
      '<<': 'x',
      same: { a: 1 },
      again: { a: 1 },
    })
    assert.equal(readYaml(yaml, '').value, null)
  })
  it('makes __proto__ an ordinary member', () => {
    const { value } = readYaml(yaml, '__proto__: {a: 1}')
    assert.deepEqual(Object.keys(value as object), ['__proto__'])
  })
  it('locates members, elements and what is around a missing one', () => {
    const { locate } = readYaml(yaml, 'a:\n  b: 1\n  list:\n    - x\n    - name: y\n')
    assert.deepEqual(locate(['a', 'b']), { line: 2, column: 3 })
    assert.deepEqual(locate(['a', 'list', 1, 'name']), { line: 5, column: 7 })
    assert.deepEqual(locate(['a', 'list', 1]), { line: 5, column: 7 })
    assert.deepEqual(locate(['a', 'missing', 'deeper']), { line: 1, column: 1 })
    assert.deepEqual(locate([]), { line: 1, column: 1 })
  })
  it('locates through aliases without failing', () => {
    assert.deepEqual(readYaml(yaml, 'a: &x {k: 1}\nb: *x\n').locate(['b', 'k']), { line: 2, column: 1 })
  })
})

describe('what is refused', () => {
  it('too many bytes, unread', () => {
    assert.match(refusal('é: 1', { max_bytes: 4 }).message, /5 bytes, 4 are allowed/)
    assert.match(refusal(`a: ${'x'.repeat(262_144)}`).message, /262147 bytes/)
  })
  it('nesting deeper than 64, in values and keys, flow and block', () => {
    for (const text of [
      '['.repeat(100_000),
      '{a: '.repeat(65),
      '- '.repeat(65),
      '? '.repeat(400),
      `${'['.repeat(65)}${']'.repeat(65)}`,
    ]) {
      assert.match(refusal(text).message, /^Nested deeper than 64 levels/)
    }
    assert.doesNotThrow(() => readYaml(yaml, `${'['.repeat(64)}${']'.repeat(64)}`))
  })
  it('every error and every warning, with its place', () => {
    assert.deepEqual(placeOf('a: 1\nb: "x'), [2, 6])
    assert.deepEqual(placeOf('a: 1\n---\nb: 2'), [2, 1])
    assert.deepEqual(placeOf('a: [1, 2'), [1, 9])
    assert.match(refusal('a: !custom 1').message, /^Unresolved tag/)
    for (const text of ['a: !!binary aGVsbG8=', 'a: !!set {b}', 'a: !!timestamp 2026-11-21', 'a: *missing'])
      refusal(text)
  })
  it('a directive for other rules', () => {
    assert.match(refusal('%YAML 1.1\n---\na: yes').message, /asks for YAML 1\.1/)
    assert.doesNotThrow(() => readYaml(yaml, '%YAML 1.2\n---\na: yes'))
  })
  it('keys that are not plain text, or occur twice', () => {
    assert.deepEqual(placeOf('ok: 1\n? [a]\n: 2'), [2, 3])
    for (const text of ['1: a', 'true: a', '? {a: 1}\n: b', '&k a: 1', ': x', 'a: {2: b}'])
      assert.match(refusal(text).message, /key/i)
    assert.deepEqual(placeOf('a:\n  b: 1\n  b: 2'), [3, 3])
    assert.deepEqual(placeOf('a: 1\n"a": 2'), [2, 1])
  })
  it('aliases that multiply, and those that stand in what they refer to', () => {
    refusal('a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]')
    assert.match(refusal('a: &a [1, *a]').message, /stands in/)
    assert.match(refusal('&a {b: {c: *a}}').message, /stands in/)
  })
  it('shows nothing of the text', () => {
    assert.doesNotMatch(refusal('gateway_key: "hunter2-hunter2\n').message, /hunter2/)
  })
  it('thirty thousand keys are read without comparing each with each', () => {
    const text = Array.from({ length: 30_000 }, (_none, at) => `k${at}:`).join('\n')
    const start = process.cpuUsage().user
    assert.equal(Object.keys(readYaml(yaml, text).value as object).length, 30_000)
    assert.ok(process.cpuUsage().user - start < 2_500_000)
  })
})

describe('a long text, read in a process of its own', () => {
  const address = import.meta.resolve('yaml')
  // no test of how fast this machine is
  const read = (text: string) => readLongYaml(address, text, {}, 60_000)
  const long = `a:\n  b: 1\nlist:\n${'  - { name: x, "quoted": [1, 2] }\n'.repeat(600)}last: ~\nwords: ${'y'.repeat(65_536)}\n`

  it('gives the same value and places', async () => {
    const apart = await read(long)
    const here = readYaml(yaml, long)
    assert.deepEqual(apart.value, here.value)
    for (const path of [[], ['a', 'b'], ['a', 'b', 'c'], ['list', 599, 'quoted', 1], ['list', 600], ['last'], ['none']])
      assert.deepEqual(apart.locate(path), here.locate(path), path.join())
    assert.deepEqual(apart.locate(['list', 599, 'quoted', 1]), { line: 603, column: 30 })
  })
  it('is refused with the same words and place', async () => {
    for (const text of [`${long}a: 2\n`, `${long}broken: [\n`, `x: ${'y'.repeat(262_144)}`, `${long}b: *nowhere\n`]) {
      const { message, place } = refusal(text)
      await assert.rejects(read(text), (error) => {
        assert.ok(error instanceof GuardError)
        assert.deepEqual([error.code, error.message], ['INVALID_YAML', message])
        assert.deepEqual([error.place.line, error.place.column], [place.line, place.column])
        return true
      })
    }
  })
  it('is every text of more than 4,096 characters, of whatever kind: none is read where requests are served', async () => {
    // the package, which tells where it is loaded
    const source = `if (process.pid === ${process.pid}) throw new Error('on the event loop')\nexport * from ${JSON.stringify(address)}`
    const elsewhere = `data:text/javascript,${encodeURIComponent(source)}`
    const reading = (text: string) => readLongYaml(elsewhere, text, {}, 60_000)
    assert.equal(SHORT_CHARS, 4_096)
    await assert.rejects(reading('x'.repeat(SHORT_CHARS)), /on the event loop/)
    assert.equal((await reading('x'.repeat(SHORT_CHARS + 1))).value, 'x'.repeat(SHORT_CHARS + 1))
    for (const piece of ['}\n', '] ', '& ', ',', 'a: 1\n', '- ', '? ', '*a ', '%a\n', '[a,', '"\\q"\n'])
      await assert.rejects(reading(piece.repeat(SHORT_CHARS + 1)), { code: 'INVALID_YAML' }, piece)
  })
  it('is no wrong text where no process can be started, or too many wait', async () => {
    const code = 'PARSER_UNAVAILABLE'
    const message = /^The text was not read: .* cannot be started: .*ENOENT\. Let the gateway start processes\.$/
    await withoutProcesses(() => assert.rejects(read(long), { code, status: 503, message }))
    const module = new URL('parser-process/parser.ts', import.meta.url).href
    const first = parserProcess.parse(module, { say: 'a' }, { long: true, chars: 16 * 1024 * 1024 })
    const full = 'The text was not read: too many texts wait for their parser. Try again in a moment.'
    await assert.rejects(read(long), { code, status: 503, message: full })
    await first
    const slow = parserProcess.parse(module, { spin: true }, { long: true, limit_ms: 50 })
    const late = 'The text was not read: it was not its turn within 0.001 s. Try again in a moment.'
    await assert.rejects(readLongYaml(address, long, {}, 1), { code, message: late })
    await assert.rejects(slow, { failure: 'timeout' })
    await read(long)
  })
  it('ends when its time is over, and the event loop continues meanwhile', async (test) => {
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    test.after(() => clearInterval(ticking))
    await assert.rejects(readLongYaml(address, long, {}, 1), /takes longer than 0\.001 s/)
    await read(long)
    assert.ok(turns > 0)
  })
})
