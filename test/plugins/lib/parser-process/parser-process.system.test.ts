import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type ParserLimits, ParserProcess } from '#lib/parser-process'
import type { Answer, Text } from './parser.ts'

const address = new URL('./parser.ts', import.meta.url).href

/** One of its own, whose processes end with the test. */
const started = (limits?: Partial<ParserLimits>) => {
  const parsers = new ParserProcess(limits)
  return {
    parsers,
    parse: (text: Text, options?: { readonly long?: boolean }) => parsers.parse<Text, Answer>(address, text, options),
  }
}
const refused = ({ counts }: ParserProcess) => counts.refused.get('other') ?? assert.fail('nothing was refused')
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const ended = async (pid: number): Promise<void> => {
  while (isRunning(pid)) await new Promise(setImmediate)
}

describe('texts for a process of parsers', () => {
  it('are parsed one after another in one process, which sees nothing of the environment', async () => {
    const { parse, parsers } = started()
    const answers = await Promise.all(['a', 'b', 'c'].map((say) => parse({ say })))
    assert.deepEqual(
      answers.map(({ say, before }) => [say, before]),
      [
        ['a', 0],
        ['b', 1],
        ['c', 2],
      ],
    )
    const [first] = answers
    assert.notEqual(first?.pid, process.pid)
    assert.deepEqual(parsers.pids, [first?.pid])
    assert.deepEqual(first?.env, [])
    assert.deepEqual(parsers.counts, { starts: 1, deaths: 0, refused: new Map() })
  })
  it('reject with what their parser throws; the next one is parsed', async () => {
    const { parse } = started()
    const failing = parse({ fail: 'no such thing' })
    const next = parse({ say: 'a' })
    await assert.rejects(failing, /no such thing/)
    assert.equal((await next).say, 'a')
  })
  it('that are long keep no short one waiting; their process ends when it is idle', async () => {
    const { parse, parsers } = started({ idle_ms: 0 })
    const long = parse({ say: 'long' }, { long: true })
    const short = await parse({ say: 'short' })
    const { pid } = await long
    assert.notEqual(pid, short.pid)
    await ended(pid)
    assert.deepEqual(parsers.pids, [short.pid])
  })
  it('that never end are refused, and end with their process; the next one gets another', async () => {
    const { parse, parsers } = started()
    const first = await parse({ say: 'a' })
    await assert.rejects(parsers.parse(address, { spin: true }, { limit_ms: 50 }), {
      name: 'ParserProcessError',
      failure: 'timeout',
    })
    const next = await parse({ say: 'b' })
    assert.deepEqual([next.say, next.before], ['b', 0])
    await ended(first.pid)
    assert.deepEqual([parsers.counts.starts, parsers.counts.deaths, refused(parsers).timeout], [2, 1, 1])
  })
  it('that end the process are refused, alone', async () => {
    const { parse, parsers } = started()
    const [exit, next] = [parse({ exit: true }), parse({ say: 'b' })]
    await assert.rejects(exit, { failure: 'died', message: 'the process that reads it has ended (code 3)' })
    assert.deepEqual([(await next).say, (await next).before], ['b', 0])
    process.kill((await next).pid, 'SIGKILL')
    await ended((await next).pid)
    assert.equal((await parse({ say: 'c' })).say, 'c')
    assert.equal(refused(parsers).died, 1)
  })
  it('that fill the memory of the process are refused', async () => {
    const { parse } = started({ max_heap_mb: 24 })
    await assert.rejects(parse({ hoard: true }), { failure: 'died' })
    assert.equal((await parse({ say: 'a' })).say, 'a')
  })
  it('after which nobody knows the state of their parser are refused, and end the process', async () => {
    const { parse, parsers } = started()
    const first = await parse({ say: 'a' })
    await assert.rejects(parse({ overflow: true }), { failure: 'died', message: /has ended \(code 70\)$/ })
    assert.notEqual((await parse({ say: 'b' })).pid, first.pid)
    assert.equal(refused(parsers).died, 1)
  })
  it('get another process where one has grown large', async () => {
    const { parse } = started({ max_resident_bytes: 1 })
    const [first, next] = [await parse({ say: 'a' }), await parse({ say: 'b' })]
    assert.notEqual(first.pid, next.pid)
  })
  it('are refused where too many wait', async () => {
    const { parse, parsers } = started({ max_waiting: 2 })
    const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((say) => parse({ say })))
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    )
    assert.equal(refused(parsers).overloaded, 2)
  })
  it('are refused where those that wait are too long together, by kind', async () => {
    const { parsers } = started({ max_waiting_chars: 10 })
    const all = await Promise.allSettled(
      [8, 3, 2].map((chars) => parsers.parse(address, { say: 'a' }, { kind: 'sql', chars })),
    )
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual([...parsers.counts.refused], [['sql', { timeout: 0, died: 0, overloaded: 1, unavailable: 0 }]])
  })
  it('are refused where no process can be started, with the cause', async (context) => {
    const { parse } = started()
    const { execPath } = process
    context.after(() => {
      process.execPath = execPath
    })
    process.execPath = '/nowhere/node'
    await assert.rejects(parse({ say: 'a' }), { failure: 'unavailable', message: /cannot be started: .*ENOENT/ })
    process.execPath = execPath
    assert.equal((await parse({ say: 'a' })).say, 'a')
  })
  it('are rejected where there is no such module', async () => {
    const { parsers } = started()
    await assert.rejects(parsers.parse(new URL('./absent.ts', import.meta.url).href, {}), /absent/)
  })
})

describe('the process of parsers', () => {
  const program = (...words: readonly string[]) =>
    spawn(
      process.execPath,
      [
        ...process.execArgv.filter((option) => option.startsWith('--conditions')),
        fileURLToPath(new URL('./program.ts', import.meta.url)),
        ...words,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
  it('keeps no program up, and ends with it', async () => {
    const child = program()
    const [text] = await once(child.stdout, 'data')
    await once(child, 'exit')
    await ended(Number(text))
  })
  for (const how of ['wait', 'spin'])
    it(`ends with a program that is killed, with a text that makes the process ${how}`, async () => {
      const child = program(how)
      const [text] = await once(child.stdout, 'data')
      // the text that it spins with is sent before the id is
      assert.ok(isRunning(Number(text)))
      child.kill('SIGKILL')
      await ended(Number(text))
    })
  it('ends when its last user leaves, after what it parses, and starts for the next', async () => {
    const { parse, parsers } = started()
    const [leave, leaveToo] = [parsers.use(), parsers.use()]
    const { pid } = await parse({ say: 'a' })
    leave()
    leave()
    const last = parse({ say: 'b' })
    leaveToo()
    assert.equal((await last).pid, pid)
    await ended(pid)
    assert.deepEqual([parsers.pids, parsers.counts.deaths], [[], 0])
    const leaveAgain = parsers.use()
    assert.equal((await parse({ say: 'c' })).before, 0)
    leaveAgain()
  })
  it('starts where the folder of its program is gone', async () => {
    const child = program('gone')
    const [text] = await once(child.stdout, 'data')
    await once(child, 'exit')
    assert.match(String(text), /^\d+\n$/)
  })
})
