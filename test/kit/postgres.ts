import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { Client } from 'pg'

const required = process.env.GUARD_POSTGRES_TESTS === 'required'
/** A server of one's own, whose user may create databases. */
const given = process.env.GUARD_TEST_POSTGRES_URL

/** Where Debian and its like keep the programs of each version. */
const debian = '/usr/lib/postgresql'

const folders = (): string[] => [
  ...(process.env.PATH ?? '').split(delimiter),
  ...(existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []).map((version) =>
    join(debian, version, 'bin'),
  ),
]

const programs = folders().find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))

const isThere = given !== undefined || programs !== undefined
if (required && !isThere)
  throw new Error(
    'GUARD_POSTGRES_TESTS is required, and neither initdb and postgres nor GUARD_TEST_POSTGRES_URL is there',
  )

/** For the options of a suite: skips it where there is no server. */
export const needsPostgres = {
  skip: isThere ? false : 'no PostgreSQL server here; install one or set GUARD_TEST_POSTGRES_URL',
}

/** For a suite that starts, stops and configures a server. */
export const needsOwnPostgres = { skip: programs === undefined ? 'no initdb and postgres here' : needsPostgres.skip }

/** The server refuses to run as root. */
const asNobody = (program: string, args: readonly string[]): [string, string[]] => {
  if (process.getuid?.() !== 0) return [program, [...args]]
  return ['setpriv', ['--reuid=nobody', '--regid=nogroup', '--clear-groups', program, ...args]]
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const PASSWORD = 'p@ss w%rd/:#?'

/** A server with a cluster of its own in a temporary folder. */
export class PostgresServer {
  readonly folder: string
  readonly port: number
  #settings: readonly string[]
  #process: ChildProcess | undefined

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.folder = folder
    this.port = port
    this.#settings = settings
  }

  /** `settings`: `name=value`, beside those for speed. `auth`: how users prove who they are. */
  static async start(
    settings: readonly string[] = [],
    auth: 'trust' | 'scram-sha-256' = 'trust',
  ): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'guard-postgres-'))
    if (process.getuid?.() === 0) chownSync(folder, Number(idOf('-u')), Number(idOf('-g')))
    const server = new PostgresServer(folder, await freePort(), settings)
    const [program, args] = asNobody(join(programs ?? '', 'initdb'), [
      ...['-D', join(folder, 'data'), '-U', 'guard', '-A', auth, '-E', 'UTF8', '--locale=C', '--no-sync'],
      ...['--no-instructions', `--pwfile=${server.write('password', PASSWORD)}`],
    ])
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder })
    running.add(server)
    await server.run()
    return server
  }

  get url(): string {
    return `postgres://guard:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.port}/postgres`
  }

  /** Writes a file that only the server may read, beside its data. */
  write(name: string, text: string): string {
    const file = join(this.folder, name)
    writeFileSync(file, text, { mode: 0o600 })
    if (process.getuid?.() === 0) chownSync(file, Number(idOf('-u')), Number(idOf('-g')))
    return file
  }

  /** Starts the server and waits until it answers. */
  async run(settings: readonly string[] = this.#settings): Promise<void> {
    this.#settings = settings
    const set = [
      ...['listen_addresses=127.0.0.1', `port=${this.port}`, `unix_socket_directories=${this.folder}`],
      ...[
        'max_connections=200',
        'shared_buffers=32MB',
        'fsync=off',
        'deadlock_timeout=50ms',
        'logging_collector=off',
        ...settings,
      ],
    ].flatMap((setting) => ['-c', setting])
    const [program, args] = asNobody(join(programs ?? '', 'postgres'), ['-D', join(this.folder, 'data'), ...set])
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.folder })
    this.#process = child
    child.unref()
    let log = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        log = (log + chunk).slice(-4_000)
        if (log.includes('ready to accept connections')) resolve()
      })
      child.once('exit', () => reject(new Error(`postgres did not start: ${log}`)))
    })
    ;(child.stderr as unknown as { unref?(): void }).unref?.()
  }

  /** `fast`: connections are ended; `immediate`: as in a crash. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop('immediate')
    running.delete(this)
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Ends it when the process of the tests ends, which waits for nothing. */
  kill(): void {
    const [program, args] = asNobody(join(programs ?? '', 'pg_ctl'), [
      '-D',
      join(this.folder, 'data'),
      '-m',
      'immediate',
      'stop',
    ])
    if (this.#process !== undefined) spawnSync(program, args, { stdio: 'ignore', cwd: this.folder })
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const idOf = (flag: string): string => execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }).trim()

let shared: Promise<PostgresServer> | undefined

/** The URL of the server that the tests of this process share. */
const sharedUrl = async (): Promise<string> => {
  if (given !== undefined) return given
  shared ??= PostgresServer.start()
  return (await shared).url
}

/** Runs a statement, outside of any storage. */
export const runSql = async (url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** A new, empty database on the shared server: its URL. */
export const newDatabase = async (): Promise<string> => {
  const url = new URL(await sharedUrl())
  const name = `guard_${randomUUID().replaceAll('-', '')}`
  await runSql(url.href, `create database ${name}`)
  made.push(name)
  url.pathname = `/${name}`
  return url.href
}

const made: string[] = []
const running = new Set<PostgresServer>()

/** Removes what the tests of a file made: call it once in each. */
export const cleanUpPostgres = (): void =>
  after(async () => {
    if (given !== undefined)
      for (const name of made.splice(0)) await runSql(given, `drop database if exists ${name} with (force)`)
  })

process.once('exit', () => {
  for (const server of running) server.kill()
})
