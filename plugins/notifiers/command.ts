import { type ChildProcess, spawn } from 'node:child_process'
import { plainSchema } from 'guard-gateway/core'
import { type Notification, type NotifyResult, notifier } from 'guard-gateway/lib/notifier'

interface CommandOptions {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const schema = plainSchema<CommandOptions>({
  type: 'object',
  properties: {
    command: { type: 'array', minItems: 1, items: { type: 'string' } },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['command'],
  additionalProperties: false,
})

const OUTPUT_CHARS = 200
/** EX_TEMPFAIL of sysexits: it may go well later. */
const TRY_AGAIN = 75

/**
 * Starts a program for each notification, which comes as one line of JSON on its standard input and in its environment.
 * No shell reads any of it. 0 is delivered, 75 may be tried again, anything else may not.
 */
export const command = notifier({
  id: 'command',
  schema,
  connect({ command: [program = '', ...args], env: named }, { env }) {
    if (program === '') throw new TypeError('command names no program')
    return {
      label: program,
      send: (notification, signal) =>
        new Promise((resolve) => {
          const child = spawn(program, args, {
            shell: false,
            // what it starts in its turn ends with it
            detached: process.platform !== 'win32',
            stdio: ['pipe', 'ignore', 'pipe'],
            env: { ...env(), ...named, ...variablesOf(notification) },
          })
          const stop = (): void => killAll(child)
          signal.addEventListener('abort', stop, { once: true })
          if (signal.aborted) stop()
          const settle = (result: NotifyResult): void => {
            signal.removeEventListener('abort', stop)
            resolve(result)
          }
          let output = ''
          child.stderr?.on('data', (chunk: Buffer) => {
            if (output.length < OUTPUT_CHARS) output += chunk.toString().slice(0, OUTPUT_CHARS)
          })
          child.once('error', (error: NodeJS.ErrnoException) =>
            settle({ outcome: 'rejected', error: `It cannot be started (${error.code ?? error.message}).` }),
          )
          // one that reads nothing ends the pipe
          child.stdin?.on('error', () => {})
          child.stdin?.end(`${JSON.stringify(notification)}\n`)
          child.once('exit', (code, ended) => settle(resultOf(code, ended, output.trim())))
        }),
    }
  },
})

const killAll = (child: ChildProcess): void => {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // it has ended
  }
}

const variablesOf = ({ event, text, url, project_id, subject, count, id }: Notification) => ({
  GUARD_NOTIFY_ID: id,
  GUARD_NOTIFY_EVENT: event,
  GUARD_NOTIFY_TEXT: text,
  GUARD_NOTIFY_URL: url,
  GUARD_NOTIFY_PROJECT: project_id ?? '',
  GUARD_NOTIFY_SUBJECT: subject,
  GUARD_NOTIFY_COUNT: String(count),
})

const resultOf = (code: number | null, ended: string | null, output: string): NotifyResult => {
  if (code === 0) return { outcome: 'delivered' }
  const why = output === '' ? '' : `: ${output}`
  if (code === null) return { outcome: 'retryable', error: `It was ended by ${ended}${why}.` }
  return { outcome: code === TRY_AGAIN ? 'retryable' : 'rejected', error: `It ended with ${code}${why}.` }
}
