import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { GuardError } from 'guard-gateway/core'
import { clientErrors } from './error-codes.ts'

const passedOn = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/** A child process. It shares the terminal of this process. */
export interface ChildCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Runs a process to its end and returns its exit status; 128 plus the signal number if a signal ended it. Throws COMMAND_NOT_FOUND. */
export const runChild = async ({ command, args, env, cwd }: ChildCommand): Promise<number> => {
  const child = spawn(command, args, { cwd, env, stdio: 'inherit' })
  const release = passSignals(child)
  try {
    return await ended(child, command)
  } finally {
    release()
  }
}

const ended = (child: ChildProcess, command: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const missing = cause.code === 'ENOENT'
      const why = missing ? 'There is no such command on the PATH' : `It cannot be started: ${cause.message}`
      reject(new GuardError(clientErrors.COMMAND_NOT_FOUND, `${command}: ${why}.`, { cause }))
    })
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]))
  })

/** Forwards signals to the child. The terminal interrupts both processes by itself. */
const passSignals = (child: ChildProcess): (() => void) => {
  const stay = () => {}
  process.on('SIGINT', stay)
  process.on('SIGQUIT', stay)
  const listeners = passedOn.map((signal) => {
    const pass = () => void child.kill(signal)
    process.on(signal, pass)
    return () => process.off(signal, pass)
  })
  return () => {
    process.off('SIGINT', stay)
    process.off('SIGQUIT', stay)
    for (const release of listeners) release()
  }
}
