import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { cpuOfTree } from './processes.ts'
import { asNobody, givenServer, serverPrograms } from './server-programs.ts'

/** What a server has done since its start. */
export interface ServerWork {
  /** CPU of all its processes in microseconds; null for a server that the bench did not start. */
  readonly cpu_us: number | null
  /** Transactions that began to write, whether or not they were committed. */
  readonly transactions: number
  readonly wal_bytes: number
}

/** Large enough for the databases of a bench; all else, durability too, is as the server has it by default. */
const SETTINGS = ['max_connections=200', 'shared_buffers=256MB', 'max_wal_size=4GB', 'logging_collector=off']

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The PostgreSQL of a bench: one of its own in a temporary folder, or that of GUARD_TEST_POSTGRES_URL. */
export class Postgres {
  readonly #url: string
  readonly #folder: string | undefined
  readonly #process: ChildProcess | undefined
  readonly #admin: Client
  readonly #made: string[] = []
  readonly #onExit = () => this.#kill()
  readonly #onSignal = () => process.exit(1)

  private constructor(url: string, admin: Client, folder?: string, server?: ChildProcess) {
    this.#url = url
    this.#admin = admin
    this.#folder = folder
    this.#process = server
    process.once('exit', this.#onExit)
    for (const signal of SIGNALS) process.once(signal, this.#onSignal)
  }

  /** True if `start` has a server to use. */
  static get isThere(): boolean {
    return givenServer() !== undefined || serverPrograms() !== undefined
  }

  /** `settings`: `name=value`, for a server of its own alone. */
  static async start(settings: readonly string[] = []): Promise<Postgres> {
    const given = givenServer()
    if (given !== undefined) return new Postgres(given, await connected(given))
    const programs = serverPrograms()
    if (programs === undefined) throw new Error('there is no PostgreSQL server')
    const folder = mkdtempSync(join(tmpdir(), 'guard-bench-postgres-'))
    if (process.getuid?.() === 0) chownSync(folder, idOf('-u'), idOf('-g'))
    const locale = ['-E', 'UTF8', '--locale=C']
    const initdb = ['-D', join(folder, 'data'), '-U', 'guard', '-A', 'trust', ...locale, '--no-instructions']
    const [program, args] = asNobody(join(programs, 'initdb'), initdb)
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder })
    const port = await freePort()
    const server = await running(programs, folder, port, settings)
    const url = `postgres://guard@127.0.0.1:${port}/postgres`
    return new Postgres(url, await connected(url), folder, server)
  }

  /** Version and the settings that decide what a commit costs. */
  async about(): Promise<string> {
    const [row] = await this.query(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as commit`,
    )
    return `PostgreSQL ${row?.version}, fsync ${row?.fsync}, synchronous_commit ${row?.commit}`
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#admin.query(sql)).rows
  }

  /** The URL of a new, empty database. */
  async database(): Promise<string> {
    const name = `guard_bench_${randomUUID().replaceAll('-', '')}`
    await this.query(`create database ${name}`)
    this.#made.push(name)
    const url = new URL(this.#url)
    url.pathname = `/${name}`
    return url.href
  }

  async work(): Promise<ServerWork> {
    const [row] = await this.query(
      `select pg_snapshot_xmax(pg_current_snapshot())::text as xid, pg_current_wal_insert_lsn() - '0/0' as bytes`,
    )
    const pid = this.#process?.pid
    return {
      cpu_us: pid === undefined ? null : cpuOfTree(pid),
      transactions: Number(row?.xid),
      wal_bytes: Number(row?.bytes),
    }
  }

  /** Ends the server, or removes the databases from one that was given. */
  async remove(): Promise<void> {
    if (this.#process === undefined)
      for (const name of this.#made) await this.query(`drop database if exists ${name} with (force)`)
    await this.#admin.end()
    process.off('exit', this.#onExit)
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
    if (this.#process !== undefined && this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit')
      this.#process.kill('SIGINT')
      await ended
    }
    this.#forget()
  }

  #kill(): void {
    const programs = serverPrograms()
    if (this.#folder === undefined || programs === undefined) return
    const stop = ['-D', join(this.#folder, 'data'), '-m', 'immediate', 'stop']
    const [program, args] = asNobody(join(programs, 'pg_ctl'), stop)
    spawnSync(program, args, { stdio: 'ignore', cwd: this.#folder })
    this.#forget()
  }

  #forget(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Runs statements on a database. Resolves to the rows of the last. */
export const runSql = async (url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> => {
  const client = await connected(url)
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  // a server that ends is noticed by the next statement
  client.on('error', () => {})
  await client.connect()
  return client
}

const running = async (
  programs: string,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> => {
  const where = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`]
  const set = [...where, ...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
  const [program, args] = asNobody(join(programs, 'postgres'), ['-D', join(folder, 'data'), ...set])
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (chunk) => {
      log = (log + chunk).slice(-4_000)
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`postgres did not start: ${log}`)))
  })
  return server
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }).trim())
