import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A gateway in a process of its own, started as a user starts it. */
export interface ChildGateway {
  readonly url: string
  readonly key: string
  /** Everything it wrote so far. */
  said(): string
  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal and waits for the end; exit code and signal. */
  end(signal: NodeJS.Signals): Promise<readonly [number | null, NodeJS.Signals | null]>
}

/** Where its requests go, and how; further members as those of an upstream in the configuration. */
export interface ChildUpstream {
  readonly url: string
  readonly client?: string
  readonly timeouts?: Readonly<Record<string, number>>
}

const KEY = 'guard_test_key_of_a_child_process'

/** What Node runs as `guard` from the sources: for plugins that import these. */
export const sourceProgram: readonly string[] = [
  ...process.execArgv.filter((argument) => argument.startsWith('--conditions=')),
  join(import.meta.dirname, '../../presets/default/bin.js'),
]

/** What Node runs as `guard`: the program that `GUARD_TEST_PROGRAM` names, else the sources. */
export const guardProgram: readonly string[] =
  process.env.GUARD_TEST_PROGRAM === undefined ? sourceProgram : [process.env.GUARD_TEST_PROGRAM]

/** Starts `guard gateway run` in a folder, with a database there; resolves when it serves. `config`: further sections, as YAML; a `port` of 0 is any; `env`: further variables. */
export const startChildGateway = async (
  folder: string,
  upstream: string | ChildUpstream,
  config = '',
  port = 0,
  env: Readonly<Record<string, string>> = {},
  program: readonly string[] = guardProgram,
): Promise<ChildGateway> => {
  const file = join(folder, 'guard-config.yml')
  const { url: base_url, ...others } = typeof upstream === 'string' ? { url: upstream } : upstream
  const provider = {
    ...{ name: 'provider', base_url, styles: ['messages', 'responses', 'chat_completions', 'gemini', 'ollama'] },
    ...others,
  }
  const upstreams = `upstreams: [${JSON.stringify(provider)}]`
  await writeFile(file, `gateway_key: ${KEY}\n${upstreams}\n${config}\n`)
  const argv = ['gateway', 'run', '--config', file, '--port', String(port), '--quiet']
  const child = spawn(process.execPath, [...program, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: folder, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const url = await address(child, () => text)
  return {
    url,
    key: KEY,
    said: () => text,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
      child.kill(signal)
      return closed
    },
  }
}

const address = (child: ChildProcess, said: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stderr?.on('data', () => {
      const [, url] = /^Guard Gateway \S+ {2}(https?:\/\/\S+)/m.exec(said()) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('close', () => reject(new Error(`the gateway ended before it served: ${said()}`)))
  })
