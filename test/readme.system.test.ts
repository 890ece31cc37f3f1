import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from './documents/documents.ts'
import { Followed, Reader } from './documents/followed.ts'
import { guard, standIn } from './documents/stand-in.ts'

/** An agent that reads one file again and again, and plays its own provider, as its reader has none. */
const AGENT = `
const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_CUSTOM_HEADERS } = process.env
const labels = Object.fromEntries(OPENAI_CUSTOM_HEADERS.split('\\n').map((line) => line.split(': ')))
const headers = { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json', ...labels }
const messages = [{ role: 'user', content: 'Why does the test fail?' }]
for (let turn = 1; turn <= 9; turn++) {
  const body = JSON.stringify({ model: 'gpt-5.4', messages })
  const answer = await fetch(OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })
  const decision = answer.headers.get('x-guard-decision')
  console.log(answer.status, decision)
  if (decision === 'block') break
  const call = { id: 'call_' + turn, type: 'function', function: { name: 'read_file', arguments: '{"path":"a.ts"}' } }
  messages.push({ role: 'assistant', content: null, tool_calls: [call] })
  messages.push({ role: 'tool', tool_call_id: call.id, content: 'return net * 0.19' })
}
`

describe('README.md', () => {
  let reader: Reader
  const readme = new Followed('README.md', () => reader)
  before(async () => {
    reader = await Reader.start({ keyed: false })
  })
  after(() => reader.close())

  it('names two commands that package.json and CI know', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    for (const part of ['npm start', 'npm test']) assert.equal(readme.block('sh', part), `npm ci && ${part}\n`)
    assert.ok(scripts.start && scripts.test)
    const ci = readFileSync(join(root, '.ci/run'), 'utf8')
    assert.match(ci, /npm ci/)
    assert.match(ci, /npm test/)
  })
  it('shows a loop without a provider key', async () => {
    const answer = JSON.parse(await readme.shell('/api/demo/run')) as { matched: boolean }
    assert.equal(answer.matched, true)
  })
  it('connects an agent by one command', async () => {
    assert.match(await standIn(reader, readme.block('sh', 'run -- claude')), /talks to [^\n]*http:\/\/127/)
  })
  it('reads the key from the configuration', async () => {
    const said = await readme.shell('export GUARD_GATEWAY_KEY', { after: '\necho "$GUARD_GATEWAY_KEY"' })
    assert.equal(said.trim(), reader.gateway.key)
  })
  it('shows a block as it is, and the way out of it', async () => {
    await readme.shell('-X PUT')
    const ask = () => readme.shell('stuck-agent', { cwd: root })
    const blocked = await ask()
    for (const line of readme.block('http', '429').trim().split('\n')) assert.ok(blocked.includes(line), line)
    const body = JSON.parse(blocked.slice(blocked.indexOf('{'))) as { error: { session_id: string } }
    body.error.session_id = 'ses_…'
    assert.deepEqual(body, JSON.parse(readme.block('json', 'guard_block')))
    await reader.gateway.request('POST', '/api/sessions/my-first-session/resume')
    assert.match(await ask(), /HTTP\/1\.1 404 [\s\S]*x-guard-decision: allow[\s\S]*NO_UPSTREAM/)
  })
  it('stops the agent that run starts in a folder from then on, until it is resumed', async () => {
    const folder = join(reader.folder, 'my-app')
    await mkdir(folder)
    await writeFile(join(folder, 'agent.mjs'), AGENT)
    const work = () => guard(reader, ['run', '--session', 'my-run', '--', process.execPath, 'agent.mjs'], folder)
    const { stdout, stderr } = await work()
    assert.match(stderr, /^guard: project my-app, enforce: .*, by the policy of project default$/m)
    assert.equal(stdout, '404 allow\n404 allow\n404 allow\n429 block\n')
    const status = async () => (await guard(reader, ['status', '--json', 'blocked'], folder)).stdout
    assert.deepEqual(JSON.parse(await status()), { blocked: 2 })
    await reader.gateway.request('POST', '/api/sessions/my-run/resume')
    assert.match((await work()).stdout, /^404 allow\n/)
  })
  it('shows pictures that are there, small, and not in the package', async () => {
    const pictures = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/src(?:set)?="([^"]+)"/g)]
    assert.equal(pictures.length, 2)
    for (const [, file = ''] of pictures) {
      const bytes = readFileSync(join(root, file))
      assert.equal(bytes.toString('latin1', 1, 4), 'PNG')
      assert.ok(bytes.length < 150_000, `${file} has ${bytes.length} bytes`)
    }
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly files: readonly string[]
    }
    assert.ok(!files.some((pattern) => /png|pictures/.test(pattern)))
  })
  it('has no block that is not run', () => readme.nothingLeft([]))
})
