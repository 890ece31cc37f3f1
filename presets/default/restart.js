/** V8 version that these flags were tested with. Other versions might reject them. */
const ENGINE = '13.6.'

/** Flags that V8 reads once, before a program starts. */
export const START_FLAGS = [
  // The optimizing compiler runs in the main thread. Its own threads never return what they once needed to the system: 100 MB after
  // 20,000 requests, which were no faster. A function that becomes hot costs one pause of up to 25 ms.
  '--no-concurrent-recompilation',
  // Half of the young generation, in MB. V8 would let it grow to four times as much, which costs 70 MB and makes requests no faster; with
  // half as much, chats of 1 KB cost a fifth more at full load.
  '--max-semi-space-size=16',
]

/**
 * Starts a gateway's process anew with the flags that V8 reads at its start, under the same process id. Flags that the user gave win. Returns
 * where it has them already, where the system cannot do it, and where a channel to the starter would be lost.
 * @param {readonly string[]} argv
 * @param {Pick<NodeJS.Process, 'argv' | 'connected' | 'env' | 'execArgv' | 'execPath' | 'execve' | 'platform' | 'versions'>} process
 */
export const restartWithFlags = ([group, command], process = globalThis.process) => {
  const { argv, connected, env, execArgv, execPath, platform, versions } = process
  if (group !== 'gateway' || command !== 'run' || connected || !versions.v8.startsWith(ENGINE)) return
  if (process.execve === undefined || platform === 'win32') return
  if (START_FLAGS.some((flag) => execArgv.includes(flag))) return
  process.execve(execPath, [execPath, ...START_FLAGS, ...execArgv, ...argv.slice(1)], env)
}
