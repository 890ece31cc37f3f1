import { isTestedEngine } from './engine.js'

/** For a program that passes bodies on and retains little of them. Flags are given to a process at its start alone: V8 may abort where they change while it runs. */
const START_FLAGS = [
  // Memory outside of the heap, such as bodies, counts toward the global limit. With its separate limit, V8 ran a full collection
  // every hundred requests of 500 KB, mostly in helper threads: 40 % of their cost.
  '--external-memory-accounted-in-global-limit',
  // Pretenuring allocates objects of a code site in the old generation if objects of the warm-up lived long.
  // It depends on chance, and a dead object there retains whole requests until the next
  // full collection: up to 10 % of the cost of calls.
  '--no-allocation-site-pretenuring',
  // A full collection comes when the heap is half as large again as after the last one. V8 would let it grow to four times as much: 120 MB
  // more after 80,000 requests, which cost no less for it.
  '--heap-growing-percent=50',
  // An idle gateway collects once, so that V8 gives memory back.
  '--expose-gc',
  // The optimizing compiler runs in the main thread. Its own threads never return what they once needed to the system: 100 MB after
  // 20,000 requests, which were no faster. A function that becomes hot costs one pause of up to 25 ms.
  '--no-concurrent-recompilation',
]

const YOUNG_GENERATION =
  // Half of the young generation, in MB. V8 would let it grow to four times as much, which costs 70 MB and makes requests no faster; with
  // half as much, chats of 1 KB cost a fifth more at full load.
  '--max-semi-space-size=16'

const MIB = 2 ** 20
/** A container with less memory needs limits of its own, in bytes. */
const SMALL = 1024 * MIB

/**
 * The flags for a gateway that may have so many bytes of memory; 0: as many as there are. V8 alone would plan with all of a small container,
 * and the system would end the process.
 * @param {number} limit
 */
export const startFlags = (limit = process.constrainedMemory()) => [
  ...START_FLAGS,
  ...(limit <= 0 || limit >= SMALL
    ? [YOUNG_GENERATION]
    : ['--max-semi-space-size=4', `--max-old-space-size=${Math.floor((limit * 0.4) / MIB)}`]),
]

const nameOf = (/** @type {string} */ flag) =>
  flag
    .replace(/^--(no-)?/, '')
    .replaceAll('_', '-')
    .replace(/=.*/, '')

/**
 * Starts a gateway's process anew with the flags that V8 reads at its start, under the same process id. A flag that the user gave, on the
 * command line or in NODE_OPTIONS, wins. Returns where it has them already, where the system cannot do it, and where a channel to the
 * starter would be lost.
 * @param {readonly string[]} argv
 * @param {Pick<NodeJS.Process, 'argv' | 'connected' | 'constrainedMemory' | 'env' | 'execArgv' | 'execPath' | 'execve' | 'platform' | 'versions'>} process
 */
export const restartWithFlags = ([group, command], process = globalThis.process) => {
  const { argv, connected, env, execArgv, execPath, platform, versions } = process
  if (group !== 'gateway' || command !== 'run' || connected || !isTestedEngine(versions)) return
  if (process.execve === undefined || platform === 'win32') return
  const present = new Set([...execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)].map(nameOf))
  const flags = startFlags(process.constrainedMemory()).filter((flag) => !present.has(nameOf(flag)))
  if (flags.length === 0) return
  process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], env)
}
