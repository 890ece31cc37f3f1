import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Gateway, storage } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { serve } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { type Config, createGateway, defaultPreset } from 'guard-gateway/presets/default'
import { upstreamClientKind } from '#lib/upstream-client'
import { emptyConfig } from '../../../presets/default/config/defaults.ts'
import { parseConfig } from '../../../presets/default/config.ts'
import { shippedRules } from '../../../presets/default/policies.ts'

const read = async (text: string): Promise<Config> =>
  (await parseConfig(`gateway_key: guard_0123456789abcdef\n${text}`, '/w/guard-config.yml', {})).config

describe('the default preset', () => {
  it('lists its plugins in the order of their detectors', async () => {
    const names = defaultPreset(emptyConfig()).map(({ name }) => name)
    assert.deepEqual(
      names.filter((name) => name.startsWith('detector/')),
      [
        'detector/exact_repeat',
        'detector/tool_repeat',
        'detector/error_retry',
        'detector/sequence_repeat',
        'detector/max_requests',
        'detector/max_tokens',
        'detector/max_cost',
        'detector/novelty_stall',
        'detector/stale_turns',
        'detector/tool_error_streak',
        'detector/text_repeat',
        'detector/worded_error',
        'detector/reworded_call',
        'detector/reread',
        'detector/thread_respawn',
        'detector/reasoning_only',
        'detector/content_chant',
        'detector/restart_loop',
      ],
    )
    const features = names.slice(names.indexOf('http')).filter((name) => !name.includes('/'))
    assert.deepEqual(features, [
      'http',
      'upstream',
      'responses-socket',
      'sessions',
      'policy',
      'recorder',
      'provider-objects',
      'replay',
      'mcp',
      'replay-mcp',
      'otlp',
      'notify',
      'playground',
      'metrics',
      'ui',
      'docs',
      'cli',
    ])
  })
  it('has six shipped rules for projects without a policy, each with a detector', async () => {
    const { defaults } = await shippedRules()
    const gateway = await createGateway(emptyConfig())
    assert.deepEqual(
      (defaults as readonly { rule_type: string }[]).map(({ rule_type }) => rule_type),
      gateway.detectors.ids().slice(0, 6),
    )
  })
})

describe('an array of plugins in another program', () => {
  const mine = { name: 'mine', apply() {} }

  it('follows the configuration, including the gateway’s', async () => {
    const config = await read(`server: { port: 0 }
storage: { backend: memory, file: no.db, on_failure: forward }
redaction: { names: [codeword], patterns: ["TICKET-[0-9]+"], emails: false }
mcp: { approver_key: approver-0123456789 }`)
    const gateway = new Gateway().use(...defaultPreset(config), mine)
    const serving = await serve(gateway, { log: { write: () => true } })
    try {
      const trace_id = '0123456789abcdef0123456789abcdef'
      const answer = await fetch(`${serving.url}/api/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-guard-key': config.gateway_key },
        body: JSON.stringify({
          trace_id,
          name: 'run',
          attributes: { codeword: 'sesame', a: 'TICKET-77 of ann@example.com', b: 'approver-0123456789' },
        }),
      })
      assert.equal(answer.status, 201, await answer.text())
      const run = await (await fetch(`${serving.url}/api/v1/runs/${trace_id}`)).text()
      assert.match(run, /ann@example\.com/)
      assert.doesNotMatch(run, /sesame|TICKET-77|approver-0/)
      assert.equal(gateway.service('store').need().onFailure, 'forward')
      assert.equal(gateway.approver.needsKey, true)
      assert.ok(!existsSync('/w/no.db'))
    } finally {
      await serving.close()
    }
  })
})

describe('a configured gateway', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-gateway-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('registers its key and credentials as secrets', async () => {
    const gateway = await createGateway(
      await read(
        'upstreams: [{ name: a, base_url: "http://127.0.0.1:1", styles: [messages], api_key: sk-upstream-0123456789 }]',
      ),
    )
    assert.ok(gateway.secrets.holds('Bearer guard_0123456789abcdef'))
    assert.ok(gateway.secrets.holds('sk-upstream-0123456789'))
    assert.equal(gateway.keys.identify(['guard_0123456789abcdef'])?.agent_id, null)
    assert.equal(gateway.keys.identify(['']), undefined)
  })
  it('uses a custom storage, and rejects an unknown one', async () => {
    const config = await read('storage: { backend: mine }')
    await assert.rejects(createGateway(config), {
      code: 'INVALID_CONFIG',
      message: /^storage\.backend: there is no storage "mine"; there is sqlite, postgres, memory\./,
    })
    const opened: string[] = []
    const mine = storage({
      id: 'mine',
      open: async (tables) => {
        opened.push('mine')
        return memory().open(tables)
      },
    })
    const gateway = await (await createGateway(config, [mine])).open()
    await gateway.close()
    assert.deepEqual(opened, ['mine'])
  })
  it('uses storage.backend', async () => {
    const gateway = await createGateway(await read('storage: { backend: memory }'))
    await gateway.open()
    assert.equal(await gateway.storage.get('sessions', 'ses_none'), undefined)
    await gateway.close()
  })
  it('redacts configured names and patterns', async () => {
    const { redact } = await createGateway(
      await read('redaction: { names: [codeword], patterns: ["TICKET-[0-9]+"], emails: false }'),
    )
    const value = redact.value({ codeword: 'sesame open', text: 'TICKET-77 from ann@example.com' })
    assert.match(value.codeword, /^\[REDACTED/)
    assert.match(value.text, /^\[REDACTED:\w+\] from ann@example\.com$/)
  })
  it('has the plugins of files after those of the preset, then further ones', async () => {
    const file = join(folder, 'mine.mjs')
    await writeFile(file, "export const mine = { name: 'mine', requires: ['policy'], apply() {} }")
    const gateway = await createGateway({ ...(await read('')), plugins: [file] }, [
      { name: 'more', requires: ['mine'], apply() {} },
    ])
    assert.deepEqual(gateway.plugins().slice(-2), ['mine', 'more'])
  })
  it('rejects an unknown API style unless a plugin registers it', async () => {
    const config = await read(
      'upstreams: [{ name: a, base_url: "http://127.0.0.1:1", styles: [messages, chat_completion] }]',
    )
    await assert.rejects(createGateway(config), {
      code: 'INVALID_CONFIG',
      message:
        /^upstreams\[0\]\.styles\[1\]: no plugin speaks the style "chat_completion"; .* Did you mean "chat_completions"\?$/,
    })
    const own = {
      name: 'own',
      apply: (gateway: Gateway) => gateway.apiStyles.add({ ...messages, id: 'chat_completion', paths: [] }),
    }
    assert.ok((await createGateway(config, [own])).plugins().includes('own'))
  })
  it('rejects an unknown upstream client unless a plugin registers it', async () => {
    const config = await read(
      'upstreams: [{ name: a, base_url: "http://127.0.0.1:1", styles: [messages], client: undicy }]',
    )
    await assert.rejects(createGateway(config), {
      code: 'INVALID_CONFIG',
      message: /^upstreams\[0\]\.client: there is no client "undicy"; there is .*\. Did you mean "undici"\?$/,
    })
    const own = {
      name: 'own',
      apply: (gateway: Gateway) => gateway.registry(upstreamClientKind).add({ ...undici, id: 'undicy' }),
    }
    assert.ok((await createGateway(config, [own])).plugins().includes('own'))
  })
  it('can use the minimal preset', async () => {
    const gateway = await createGateway(await read('preset: minimal'))
    assert.deepEqual(gateway.plugins(), [
      'redaction',
      'access',
      'store',
      'parsers',
      'memory-budget',
      'credentials',
      'storage/memory',
      'api-style/messages',
      'detector/exact_repeat',
      'upstream-client/undici',
      'http',
      'upstream',
      'sessions',
      'policy',
    ])
    await gateway.open()
    await gateway.close()
  })
})
