import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { restartWithFlags } from '../../../presets/default/restart.js'

const run = promisify(execFile)

/** Makes objects that outlive collections, in turns, and prints the size of the young generation in MiB. */
const GROW = `
import { getHeapSpaceStatistics } from 'node:v8'
const kept = []
for (let turn = 0; turn < 300; turn++)
  for (let index = 0; index < 1_000; index++) kept[(turn * 1_000 + index) % 200_000] = new Array(40).fill(turn)
console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20)
`

/** A process that was started by `node bin.js gateway run`, and how it was started anew. */
const processOf = (changes: object) => {
  const calls: unknown[][] = []
  const process = {
    argv: ['node', 'bin.js', 'gateway', 'run', '--port', '0'],
    connected: false,
    constrainedMemory: () => 0,
    env: { HOME: '/home/me' },
    execArgv: ['--max-semi-space-size=2'],
    execPath: '/bin/node',
    execve: (...args: unknown[]) => void calls.push(args),
    platform: 'linux',
    versions: { v8: '13.6.233' },
    ...changes,
  }
  return { process: process as never, calls }
}

/** Those that a gateway of any size gets. */
const ALWAYS = [
  '--external-memory-accounted-in-global-limit',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=50',
  '--expose-gc',
  '--no-concurrent-recompilation',
]

describe('the heap of a gateway', () => {
  it('gets the flags that V8 reads at its start', () => {
    const { process, calls } = processOf({ execArgv: ['--conditions=x'] })
    restartWithFlags(['gateway', 'run', '--port', '0'], process)
    const flags = [...ALWAYS, '--max-semi-space-size=16', '--conditions=x']
    const args = ['/bin/node', ...flags, 'bin.js', 'gateway', 'run', '--port', '0']
    assert.deepEqual(calls, [['/bin/node', args, { HOME: '/home/me' }]])
  })

  it('gets limits of its own in a small container', () => {
    const flagsAt = (limit: number) => {
      const { process, calls } = processOf({ execArgv: [], constrainedMemory: () => limit })
      restartWithFlags(['gateway', 'run'], process)
      return (calls[0] as [string, string[]])[1].slice(1 + ALWAYS.length, -5)
    }
    assert.deepEqual(flagsAt(256 * 2 ** 20), ['--max-semi-space-size=4', '--max-old-space-size=102'])
    // systems without a limit give none, or more than there is
    for (const limit of [0, 2 ** 34, 2 ** 64]) assert.deepEqual(flagsAt(limit), ['--max-semi-space-size=16'])
  })

  for (const [where, changes] of Object.entries({
    'on the command line': { execArgv: ['--max-semi-space-size=2'] },
    'in NODE_OPTIONS': { execArgv: [], env: { NODE_OPTIONS: '--enable-source-maps --max_semi_space_size=2' } },
  }))
    it(`leaves a flag to the user who gave it ${where}`, () => {
      const { process, calls } = processOf(changes)
      restartWithFlags(['gateway', 'run'], process)
      const [, args] = calls[0] as [string, string[]]
      assert.deepEqual(args.slice(1, -5), [...ALWAYS, ...changes.execArgv])
    })

  for (const [why, changes] of Object.entries({
    'has them': { execArgv: [...ALWAYS, '--max-semi-space-size=16'] },
    'would lose the channel to its starter': { connected: true },
    'cannot be started anew': { execve: undefined },
    'is on Windows': { platform: 'win32' },
    'has another engine': { versions: { v8: '12.4.254' } },
  }))
    it(`is left alone where the process ${why}`, () => {
      const { process, calls } = processOf(changes)
      restartWithFlags(['gateway', 'run'], process)
      assert.deepEqual(calls, [])
    })

  it('is left alone by other commands', () => {
    const { process, calls } = processOf({})
    for (const argv of [['run'], ['gateway', 'stop'], ['mcp', 'run'], []]) restartWithFlags(argv, process)
    assert.deepEqual(calls, [])
  })

  it('has a young generation of 32 MiB at most', async () => {
    const { stdout } = await run(process.execPath, ['--max-semi-space-size=16', '--input-type=module', '--eval', GROW])
    // a collection under way may hold some pages more; the next larger one has twice as many
    assert.ok(Number(stdout) <= 48, `${stdout} MiB`)
  })
})
