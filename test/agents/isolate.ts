import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'

/** No address but loopback's: nothing can leave. */
export const isIsolated = (): boolean =>
  Object.values(networkInterfaces()).every((addresses) => addresses?.every(({ internal }) => internal) ?? true)

/** Runs this program again in a network namespace with loopback alone; its exit code. */
export const runIsolated = async (argv: readonly string[]): Promise<number> => {
  const inside = 'ip link set lo up && exec "$@"'
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const words = [...user, '--net', 'sh', '-c', inside, 'sh', process.execPath, ...process.execArgv, ...argv]
  const child = spawn('unshare', words, { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
