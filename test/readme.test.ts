import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from './documents/documents.ts'
import { Followed, Reader } from './documents/followed.ts'
import { standIn } from './documents/stand-in.ts'

describe('README.md', () => {
  let reader: Reader
  const readme = new Followed('README.md', () => reader)
  before(async () => {
    reader = await Reader.start()
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
    assert.match(await ask(), /HTTP\/1\.1 200 OK/)
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
