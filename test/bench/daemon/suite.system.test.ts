import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Daemon } from '../../../bench/daemon/daemon.ts'
import { planOf } from '../../../bench/daemon/plan.ts'
import { hasProc, numberAfter, usageOf } from '../../../bench/daemon/proc.ts'
import { type DaemonProgram, daemonPrograms } from '../../../bench/daemon/programs.ts'
import { readOptions } from '../../../bench/options.ts'
import { runDaemon } from '../../../bench/suites/daemon.ts'

const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-test-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const program = (args: readonly string[], port?: number): DaemonProgram => ({
  name: 'raw',
  keepsRecords: false,
  launch: async () => ({ args, ...(port === undefined ? {} : { port }) }),
  headers: () => ({}),
})

describe('the daemon suite', () => {
  it('measures every part beside the raw pass-through', { skip: !hasProc() && 'there is no /proc' }, async () => {
    const { figures, failures, notes } = await runDaemon(readOptions(['--suite', 'daemon', '--smoke'], {}), () => {})
    assert.deepEqual(failures, [])
    assert.match(notes.join(), /^portkey is left out: .*--portkey or GUARD_BENCH_PORTKEY/)
    const ids = figures.map(({ id }) => id)
    for (const id of [
      'start',
      'first_4_p50',
      'rss_idle',
      'cpu_idle',
      'rss_20',
      'rss_40_100',
      'written',
      'cpu_chat_32k_20',
    ])
      assert.ok(ids.includes(id), `${id} is not among ${ids.join(', ')}`)
    for (const { id, values } of figures) assert.ok(Number.isFinite(values.sources), id)
    assert.ok(figures.every(({ id, values }) => id.endsWith('_added') || Number.isFinite(values.raw)))
  })
  it('measures less or more by option', () => {
    const plan = (...args: readonly string[]) => planOf(readOptions(['--suite', 'daemon', ...args]))
    const amounts = (...args: readonly string[]) => [plan(...args).chats.all, plan(...args).after_ms]
    assert.deepEqual(amounts(), [100_000, 60_000])
    assert.deepEqual(amounts('--full'), [500_000, 600_000])
    assert.deepEqual(amounts('--full', '--requests', '30000', '--idle', '5'), [30_000, 5_000])
    assert.throws(() => plan('--idle', 'long'), /--idle takes a whole number from 1, not "long"/)
  })
  it('stands Portkey beside it, of a folder by option or environment', () =>
    inFolder(async (folder) => {
      assert.equal(readOptions([], { GUARD_BENCH_PORTKEY: folder }).portkey, folder)
      assert.equal(readOptions(['--portkey', 'other'], { GUARD_BENCH_PORTKEY: folder }).portkey, 'other')
      const programs = (portkey: string | undefined) => daemonPrograms({ portkey, against: undefined })
      await assert.rejects(programs(folder), /There is no Portkey gateway in .*: .*start-server\.js is missing\./)
      const build = join(folder, 'node_modules/@portkey-ai/gateway/build')
      mkdirSync(build, { recursive: true })
      writeFileSync(join(build, 'start-server.js'), '')
      assert.equal((await programs(folder)).at(-1)?.name, 'portkey')
      assert.equal((await programs(undefined))[0]?.name, 'raw')
    }))
})

describe('a started target', () => {
  it('listens once it accepts connections, or has said its address', () =>
    inFolder(async (folder) => {
      const server = `const s = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: 'http://127.0.0.1:' + s.address().port })))`
      const said = await Daemon.start(program(['-e', server]), 0, folder, folder)
      // the port is taken by a process that has listened for long: the connection alone counts
      const silent = await Daemon.start(program(['-e', 'setInterval(() => {}, 1000)'], said.port), 0, folder, folder)
      assert.equal(silent.port, said.port)
      assert.ok(said.start_ms > 0)
      await Promise.all([said.stop(), silent.stop()])
      if (hasProc()) assert.throws(() => said.usage(), /there is no process \d+/)
    }))
  it('that ends before it listens is told with what it said', () =>
    inFolder((folder) =>
      assert.rejects(
        Daemon.start(program(['-e', `console.error('no room'); process.exit(3)`]), 0, folder, folder),
        /raw ended \(3\) before it listened\.\nno room/,
      ),
    ))
})

describe('the usage of a process', () => {
  it('is read from the lines of /proc', () => {
    const status = 'Name:\tnode\nVmHWM:\t  90000 kB\nVmRSS:\t   61440 kB\n'
    assert.equal(numberAfter(status, 'VmRSS'), 61_440)
    assert.equal(numberAfter('cancelled_write_bytes: 7\nwrite_bytes: 4096\n', 'write_bytes'), 4_096)
    assert.equal(numberAfter(status, 'RSS'), undefined)
  })
  it('grows with its work', { skip: !hasProc() && 'there is no /proc' }, () => {
    const before = usageOf(process.pid)
    while (usageOf(process.pid).cpu_us === before.cpu_us);
    assert.ok(before.rss_bytes > 1_000_000)
  })
})
