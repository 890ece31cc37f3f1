import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { mcpUpstream } from '../kit/mcp-upstream.ts'
import { fakeProvider } from '../kit/provider.ts'
import { type Ask, KEPT, makeHistory, POLICY } from './history.ts'

const FOLDER = join(import.meta.dirname, '../data/databases')

/** Runs `guard` of a clone; `stop` ends it. */
const start = async (clone: string, folder: string, ...argv: readonly string[]) => {
  const script = ['bin.js', 'bin.ts'].map((name) => join(clone, 'presets/default', name)).find(existsSync)
  if (script === undefined) throw new Error(`${clone} has no presets/default/bin.js.`)
  const env = { PATH: process.env.PATH, HOME: folder }
  const child = spawn(process.execPath, ['--conditions=guard-source', script, ...argv], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  const ended = once(child, 'close')
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const says = (pattern: RegExp) =>
    new Promise<string>((found, missing) => {
      const look = () => {
        const [match] = pattern.exec(said) ?? []
        if (match !== undefined) found(match)
      }
      child.stderr.on('data', look)
      void ended.then(() => missing(new Error(said)))
    })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { says, stop }
}

/** Records the database that a version makes, and the configuration that its first start writes. `clone`: sources of that version, which may be those of a commit. */
const record = async (version: string, clone: string): Promise<void> => {
  await mkdir(FOLDER, { recursive: true })
  const folder = await mkdtemp(join(tmpdir(), 'guard-record-'))
  const [provider, server] = await Promise.all([fakeProvider(), mcpUpstream()])
  const stops: (() => Promise<unknown>)[] = [() => provider.close(), () => server.close()]
  try {
    const file = join(folder, 'guard-config.yml')
    const first = await start(clone, folder, 'gateway', 'run', '--port', '0')
    stops.push(first.stop)
    await first.says(/http:\/\/127\S+/)
    await first.stop()
    const written = (await readFile(file, 'utf8')).replace(/^gateway_key: \S+/m, `gateway_key: ${KEPT.key}`)
    await writeFile(join(FOLDER, `${version}.yml`), written)
    for (const name of ['', '-wal', '-shm']) await rm(join(folder, `guard.db${name}`), { force: true })
    const upstream = { name: 'provider', base_url: provider.url, styles: ['chat_completions'] }
    const mcp = { policy: 'policy.yml', servers: { up: { transport: 'http', target: server.url } } }
    const config = { gateway_key: KEPT.key, default_mode: 'shadow', upstreams: [upstream], mcp }
    await writeFile(file, JSON.stringify(config))
    await writeFile(join(folder, 'policy.yml'), POLICY)
    const gateway = await start(clone, folder, 'gateway', 'run', '--port', '0')
    stops.push(gateway.stop)
    const url = await gateway.says(/http:\/\/127\S+/)
    const ask: Ask = async (method, path, body, headers = {}) => {
      const all = { 'content-type': 'application/json', authorization: `Bearer ${KEPT.key}`, ...headers }
      const answer = await fetch(url + path, { method, headers: all, body: JSON.stringify(body) })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }
    await makeHistory(ask)
    await gateway.stop()
    const packed = gzipSync(await readFile(join(folder, 'guard.db')), { level: 9 })
    await writeFile(join(FOLDER, `${version}.db.gz`), packed)
    process.stdout.write(`${version}: ${packed.length} bytes\n`)
  } finally {
    for (const stop of stops) await stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const [version = '', clone = join(import.meta.dirname, '../..')] = process.argv.slice(2)
if (!/^[\w.-]+$/.test(version)) throw new Error('Name the version: npm run record:database -- 0.1.0')
await record(version, resolve(clone))
