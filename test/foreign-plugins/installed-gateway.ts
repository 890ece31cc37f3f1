import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackedPackage } from '../packed-package.ts'

const KEY = 'guard_foreign_plugins_key'

export interface Told {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** Undefined if the text is no JSON. */
  readonly json: unknown
}

/** What a command line came to. */
export interface CommandResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A gateway of the installed package, in a process of its own. */
export interface InstalledGateway {
  readonly url: string
  readonly key: string
  /** Everything it wrote so far. */
  said(): string
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Told>
  /** Its exit code. */
  stop(): Promise<number | null>
}

/** A member of an answer. */
export const member = ({ json }: Told, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => Reflect.get(Object(value), name), json)

/** The project that has installed the package, with a configuration, gateways and commands. */
export class Installation {
  readonly #packed: PackedPackage
  readonly #upstream: string
  readonly #running = new Set<ChildProcess>()
  #port = 0

  constructor(packed: PackedPackage, upstream: string) {
    this.#packed = packed
    this.#upstream = upstream
  }

  /** Starts `guard gateway run` with further lines of configuration, and entries of upstreams. Rejects with what it said, where it ends before it serves. */
  async start(
    styles: readonly string[],
    lines: readonly string[],
    ...others: readonly string[]
  ): Promise<InstalledGateway> {
    this.#port = 0
    await this.#configure(styles, lines, others)
    const child = this.#spawn(['gateway', 'run', '--port', '0'])
    let text = ''
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [, url] = /^Guard Gateway \S+ {2}(https?:\/\/\S+)/m.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    const closed = once(child, 'close') as Promise<[number | null]>
    void closed.then(() => reject(new Error(text)))
    const url = await promise
    // commands look for it where the file says that it is
    this.#port = Number(new URL(url).port)
    await this.#configure(styles, lines, others)
    return {
      url,
      key: KEY,
      said: () => text,
      ask: (method, path, body, headers = {}) => ask(url + path, method, body, headers),
      stop: async () => {
        child.kill('SIGTERM')
        return (await closed)[0]
      },
    }
  }

  /** Runs one command line. */
  async guard(...words: readonly string[]): Promise<CommandResult> {
    const child = this.#spawn(words)
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, out, err }
  }

  /** Ends what a failed test has left. */
  end(): void {
    for (const child of this.#running) child.kill('SIGKILL')
  }

  #spawn(words: readonly string[]) {
    const child = spawn(this.#packed.program, [this.#packed.bin, ...words], {
      cwd: this.#packed.project,
      env: { ...this.#packed.env, HOME: this.#packed.project },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#running.add(child)
    child.once('close', () => this.#running.delete(child))
    return child
  }

  #configure(styles: readonly string[], lines: readonly string[], others: readonly string[]): Promise<void> {
    const upstream = `{ name: provider, base_url: "${this.#upstream}", styles: [${styles.join(', ')}], api_key: k }`
    const text = [
      `gateway_key: ${KEY}`,
      `server: { port: ${this.#port} }`,
      `upstreams: [${[upstream, ...others].join(', ')}]`,
      ...lines,
    ]
    return writeFile(join(this.#packed.project, 'guard-config.yml'), text.join('\n'), { mode: 0o600 })
  }
}

const ask = async (
  url: string,
  method: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Told> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await fetch(url, { method, headers: { authorization: `Bearer ${KEY}`, ...type, ...headers }, ...sent })
  const text = await answer.text()
  return { status: answer.status, text, headers: answer.headers, json: parsed(text) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
