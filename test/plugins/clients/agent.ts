import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A session that was used just now, by somebody without a name. */
const SESSION = { agent_id: null, last_seen_at: '2999-01-01T00:00:00Z' }

/** Answers as a gateway that is up and keeps a record; `sessions` are found by every question, `status` answers them. Its clock is ahead by `clock` milliseconds. */
export const recording = async (
  context: TestContext,
  {
    sessions = [SESSION],
    plugins = ['recorder'],
    status = 200,
    clock = 0,
    more = {},
  }: { sessions?: object[]; plugins?: string[]; status?: number; clock?: number; more?: object } = {},
): Promise<string> => {
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/api/sessions')) response.statusCode = status
    response.setHeader('date', new Date(Date.now() + clock).toUTCString())
    response.end(JSON.stringify({ plugins, sessions, mode_in_force: 'shadow', ...more }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const script = `require('fs').writeFileSync('seen.json', JSON.stringify({ args: process.argv.slice(2), env: process.env }))`

/** A command of a client's name that writes down how it was started. */
export const client = async (cwd: string, name: string, text = script): Promise<string> => {
  const folder = join(cwd, 'bin')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), `#!${process.execPath}\n${text}\n`, { mode: 0o755 })
  return join(folder, name)
}

/** What it wrote. */
export const seen = async (cwd: string): Promise<{ args: string[]; env: Record<string, string> }> =>
  JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8'))
