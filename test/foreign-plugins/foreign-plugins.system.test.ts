import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fakeProvider } from '../kit/provider.ts'
import { modules, type PackedPackage, packPackage } from '../packed-package.ts'
import { Installation, member } from './installed-gateway.ts'

const plugins = join(import.meta.dirname, 'plugins')
const chat = (model: string, content: string) => ({ model, messages: [{ role: 'user', content }] })

describe('plugins that are not like ours, with the package as it is published', { timeout: 240_000 }, () => {
  let packed: PackedPackage
  let installation: Installation
  const provider = fakeProvider()
  before(async () => {
    packed = await packPackage()
    await cp(plugins, packed.project, { recursive: true })
    installation = new Installation(packed, (await provider).url)
  })
  after(async () => {
    installation.end()
    await packed.remove()
    await (await provider).close()
  })
  const common = ['chat_completions', 'messages']

  it('are written in JavaScript and TypeScript, the latter with types that fit', async () => {
    const options = {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
      lib: ['es2024', 'esnext.disposable'],
    }
    const files = ['shouting.ts', 'file-storage.ts']
    await writeFile(join(packed.project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
    await packed.node(join(modules, 'typescript/bin/tsc'), '-p', packed.project)
  })

  it('work together: dialect, detector, veto, signer, storage with options, page, format, notifier and command', async () => {
    const lines = [
      'default_mode: enforce',
      'storage: { backend: one_file }',
      'notify: { receivers: { file: { notifier: tell_file, file: told.txt } } }',
      'plugins:',
      ...['dialect.mjs', 'shouting.ts', 'veto.mjs', 'page.mjs', 'tsv.mjs', 'tell.mjs', 'stop-command.mjs'].map(
        (name) => `  - ./${name}`,
      ),
      '  - { use: ./file-storage.ts, with: { file: records.json } }',
      '  - { use: ./header-signer.mjs, with: { secret: "a secret of ours" } }',
    ]
    const styles = [...common, 'parley']
    const gateway = await installation.start(styles, lines)
    const { ask } = gateway
    const { requests } = await provider

    // dialect: model from the path, lines of JSON, signed
    const body = '{"say":"Good "}\n{"say":"day"}\n{"done":true,"in":7,"out":2}\n'
    ;(await provider).script({ status: 200, headers: { 'content-type': 'application/x-ndjson' }, body })
    const talk = await ask(
      'POST',
      '/parley/m-9/talk?x=1',
      { turns: [{ by: 'me', say: 'Hello' }] },
      { 'x-guard-session-id': 'talk' },
    )
    assert.deepEqual([talk.status, talk.text, talk.headers.get('x-signed')], [200, body, 'yes'])
    const sent = requests.at(-1)
    assert.equal(sent?.path, '/parley/m-9/talk?x=1')
    const signature = sent?.headers[(sent?.headers.indexOf('x-signature') ?? -1) + 1]
    const signedText = `POST ${(await provider).url}${sent?.path} ${sent?.body}`
    assert.equal(signature, createHmac('sha256', 'a secret of ours').update(signedText).digest('hex'))
    assert.equal(member(await ask('GET', '/api/sessions/talk'), 'session', 'total_tokens'), 9)

    // detector and notifier
    const policy = {
      mode: 'enforce',
      rules: [{ rule_type: 'shouting', action: 'block', threshold: 2, window_size: 4 }],
    }
    assert.equal((await ask('PUT', '/api/policies/default', policy)).status, 200)
    const shout = (content: string) =>
      ask('POST', '/v1/chat/completions', chat('m-1', content), { 'x-guard-session-id': 'loud' })
    assert.equal((await shout('HELLO THERE')).status, 200)
    const blocked = await shout('ANYBODY HOME')
    assert.deepEqual([blocked.status, blocked.headers.get('x-guard-reason')], [429, 'LOOP_SHOUTING'])

    // veto from every hook, with a code of its own and one that nobody knows, in each dialect
    for (const hook of ['request', 'decision', 'forward', 'outbound']) {
      for (const [path, of] of [
        ['/v1/chat/completions', (model: string) => chat(model, hook)],
        ['/v1/messages', (model: string) => ({ ...chat(model, hook), max_tokens: 5 })],
      ] as const) {
        const closed = await ask('POST', path, of(`closed-${hook}`))
        assert.equal(closed.status, 403, `${hook} ${closed.text}`)
        assert.match(JSON.stringify(closed.json), /This model is closed at night\. Ask for another model/)
        const unknown = await ask('POST', path, of(`unknown-${hook}`))
        assert.equal(unknown.status, 500, `${hook} ${unknown.text}`)
        assert.match(unknown.text, /Nobody knows this code/)
      }
      assert.match(gateway.said(), new RegExp(`${hook}:veto`))
      const own = await ask('POST', `/parley/closed-${hook}/talk`, { turns: [{ by: 'me', say: hook }] })
      assert.deepEqual(own.json, {
        sorry: 'This model is closed at night. Ask for another model, or come back at eight.',
        why: 'MODEL_CLOSED',
      })
    }
    const proxied = await ask('POST', '/v1/messages/count_tokens', chat('closed-proxy', 'x'))
    assert.deepEqual([proxied.status, (await ask('GET', '/api/veto')).status], [403, 403])
    assert.equal(member(await ask('GET', '/api/veto'), 'error', 'message'), 'The route is closed.')
    const decided = await ask('POST', '/v1/chat/completions', chat('blocked', 'x'), { 'x-guard-session-id': 'vetoed' })
    assert.deepEqual([decided.status, decided.headers.get('x-guard-reason')], [429, 'CLOSED'])
    const vetoed = await ask('GET', '/api/sessions/vetoed')
    assert.deepEqual([member(vetoed, 'session', 'requests'), member(vetoed, 'session', 'blocked')], [0, 1])

    // page, format
    assert.match(
      (await ask('GET', '/greeting', undefined, { accept: 'text/html' })).text,
      /<h1>Hello from outside<\/h1>/,
    )
    const run = decided.headers.get('x-guard-trace-id')
    assert.match((await ask('GET', `/api/v1/runs/${run}/export?format=tsv`)).text, /^kind\tname\n/)

    // commands, beside the gateway that runs
    const stopped = await installation.guard('stop-all')
    assert.equal(stopped.code, 0, stopped.err)
    assert.match(stopped.out, /loud\n.*talk\n.*vetoed\n/s)
    assert.equal(member(await ask('GET', '/api/sessions/talk'), 'session', 'paused'), true)
    const explained = await installation.guard('explain', 'MODEL_CLOSED')
    assert.match(explained.out, /^MODEL_CLOSED {2}HTTP 403 {2}permission_error\n/)
    assert.equal(await gateway.stop(), 0)
    assert.match(await readFile(join(packed.project, 'told.txt'), 'utf8'), /^blocked: /m)

    // storage: another process finds what the first one kept
    const again = await installation.start(styles, lines)
    const kept = await again.ask('GET', '/api/sessions/talk')
    assert.deepEqual([member(kept, 'session', 'total_tokens'), member(kept, 'session', 'paused')], [9, true])
    assert.equal(await again.stop(), 0)
  })

  it('are told with name and file where they clash or have wrong options', async () => {
    await assert.rejects(
      installation.start(common, ['storage: { backend: memory }', 'plugins: [./clash.mjs]']),
      /"clash" \(.*\/clash\.mjs\).*GET \/sessions/,
    )
    const wrong = 'plugins: [{ use: ./header-signer.mjs, with: { secret: "short" } }]'
    await assert.rejects(installation.start(common, [wrong]), /guard-config\.yml:4:\d+: plugins\[0\]\.with\.secret: /)
    await assert.rejects(
      installation.start(common, ['plugins: [{ use: ./header-signer.mjs, with: { sekret: "long enough" } }]']),
      /sekret: unknown key\. Did you mean "secret"/,
    )
  })

  it('may throw anything in everything that they contribute, and the gateway goes on', async () => {
    const statuses = { envelope: 500, parts: 500, meter: 200, push: 200, end: 200, refusal: 200 }
    const gateway = await installation.start(
      [...common, ...Object.keys(statuses)],
      [
        'default_mode: enforce',
        'storage: { backend: memory }',
        'notify: { receivers: { broken: { notifier: broken } } }',
        'plugins: [./broken.mjs]',
      ],
    )
    const { ask } = gateway
    const types = ['broken_detect', 'broken_measure', 'broken_stream']
    const rules = types.map((rule_type) => ({ rule_type, action: 'block', threshold: 1, window_size: 2 }))
    assert.equal((await ask('PUT', '/api/policies/default', { mode: 'enforce', rules })).status, 200)
    const answers = async (path: string, body: unknown, status: number) => {
      const told = await ask(body === undefined ? 'GET' : 'POST', path, body)
      assert.equal(told.status, status, `${path}: ${told.text}`)
      assert.doesNotMatch(told.text, /inner text/)
      return told
    }
    for (let round = 0; round < 6; round++) {
      for (const [id, status] of Object.entries(statuses))
        await answers(`/broken/${id}`, chat('m', `${id} ${round}`), status)
      await answers('/v1/chat/completions', chat('m-1', `words ${round}`), 200)
      await answers('/broken/refusal', [], 400)
      for (const path of ['/api/broken-route', '/api/broken-later', '/broken-page'])
        assert.equal(member(await answers(path, undefined, 500), 'error', 'code'), 'INTERNAL')
      await answers('/', undefined, 200)
    }
    const run = (await answers('/v1/chat/completions', chat('m-1', 'x'), 200)).headers.get('x-guard-trace-id')
    await answers(`/api/v1/runs/${run}/export?format=broken`, undefined, 500)
    assert.equal(member(await ask('GET', '/api/health'), 'status'), 'degraded')
    const said = gateway.said()
    const named = [
      ...types.map((type) => `detector:${type}`),
      'meter:meter',
      'meter:push',
      'meter:end',
      'refusal:refusal',
    ]
    for (const name of [...named, 'health:broken']) assert.ok(said.includes(name), `${name} is not named`)
    assert.match((await installation.guard('broken')).err, /The plugin "broken" .* failed in its command "broken": /)
    assert.equal(await gateway.stop(), 0)
    await assert.rejects(
      installation.start(common, ['storage: { backend: broken }', 'plugins: [./broken.mjs]']),
      /The plugin "storage\/broken" \(.*broken\.mjs\) failed in its hook "open": /,
    )
  })
})
