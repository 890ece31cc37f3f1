import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a process printed, and how it ended. */
export interface Ended {
  /** Null if it had to be ended. */
  readonly code: number | null
  readonly text: string
}

/** Runs a command to its end, or for so many ms; what it leaves running in its group is ended. */
export const run = async (
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  limit: number,
): Promise<Ended> => {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    endGroup(child.pid)
  }, limit)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  // what it started may hold its streams open
  endGroup(child.pid)
  await new Promise((resolve) => setImmediate(resolve))
  return { code: isLate ? null : code, text }
}

const endGroup = (pid: number | undefined): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // nothing of it runs
  }
}
