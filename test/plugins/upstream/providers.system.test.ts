import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../presets/default/config.ts'
import { ask, chatBody, KEY, messagesBody, type Started, start } from '../http/kit.ts'

const page = readFileSync(new URL('../../../plugins/upstream/PROVIDERS.md', import.meta.url), 'utf8')

/** A line of the table. */
interface Provider {
  readonly name: string
  /** YAML of an entry under `upstreams`. */
  readonly entry: string
  /** Addresses that are asked. */
  readonly asked: readonly URL[]
  /** As a header, or words. */
  readonly credential: string
}

const code = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

const providers: readonly Provider[] = page
  .split('\n')
  .filter((line) => /^\|.*`\{ name:/.test(line))
  .map((line) => {
    const [, name = '', entry = '', asked = '', credential = ''] = line.split(/ *\| */)
    return {
      name,
      entry: code(entry)[0] ?? '',
      asked: code(asked).map((text) => new URL(text)),
      credential: code(credential)[0] ?? credential,
    }
  })

/** What a client sends so that this address is asked. */
const requestFor = ({ pathname }: URL) => {
  if (pathname.endsWith(':generateContent')) return { path: pathname, body: { contents: [] } }
  if (pathname === '/v1beta/models' || pathname === '/api/tags') return { method: 'GET', path: pathname }
  if (pathname === '/api/chat' || pathname === '/api/generate') return { path: pathname, body: chatBody }
  if (pathname.endsWith('/models')) return { method: 'GET', path: '/v1/models' }
  if (pathname.endsWith('/count_tokens')) return { path: '/v1/messages/count_tokens', body: messagesBody }
  if (pathname.endsWith('/messages')) return { path: '/v1/messages', body: messagesBody }
  if (pathname.endsWith('/responses')) return { path: '/v1/responses', body: { model: 'm-1', input: 'Hi' } }
  return { path: '/v1/chat/completions', body: chatBody }
}

const CREDENTIALS = /^(?:authorization|x-api-key|api-key|x-goog-api-key|x-guard-key):/i
const VERSIONS = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'oauth-2025-04-20' }
const LOGIN = { authorization: 'Bearer login-of-the-agent', 'x-guard-key': KEY }

/** The entry as a configuration has it. */
const upstreamOf = async ({ entry }: Provider) => {
  const variable = /\$\{(\w+)\}/.exec(entry)?.[1]
  const env = variable === undefined ? {} : { [variable]: `key-of-${variable}` }
  const text = `gateway_key: guard_0123456789abcdef\nupstreams:\n  - ${entry}\n`
  const { config, warnings } = await parseConfig(text, 'guard-config.yml', env)
  assert.deepEqual(warnings, [])
  const [upstream] = config.upstreams
  assert.ok(upstream !== undefined)
  return upstream
}

/** Header lines that show who asks. */
const credentialsWanted = ({ credential }: Provider, isLogin: boolean): readonly string[] => {
  if (isLogin) return [`authorization: ${LOGIN.authorization}`]
  return credential === 'none' ? [] : [credential.replaceAll(/\$\{(\w+)\}/g, 'key-of-$1')]
}

/** Asks so that the upstream is asked at this address. Gives the request as it came there. */
const asking = async (running: Started, url: URL, headers: Readonly<Record<string, string>>) => {
  const { path, ...request } = requestFor(url)
  // a query of the client's own stays, unless the address has one to be compared
  const query = url.search === '' ? '?own=1' : ''
  const key = 'x-guard-key' in headers ? { key: null } : {}
  const got = await ask(running.port, { ...request, path: path + query, headers, ...key })
  assert.equal(got.status, 200, `${url} ${got.body}`)
  const { last } = running.provider
  assert.equal(last.path, url.pathname + url.search + query, `${url}`)
  return last.headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name.toLowerCase()}: ${last.headers[index + 1]}`] : [],
  )
}

describe('providers on their page', () => {
  it('are those that people ask for', () => {
    const names = providers.map(({ name }) => name).join()
    for (const wanted of [
      'Azure, v1',
      'deployment',
      'OpenRouter',
      'Gemini',
      'vLLM',
      'LM Studio',
      'Ollama',
      'ChatGPT',
      'Claude',
    ])
      assert.match(names, new RegExp(wanted))
  })
  for (const provider of providers)
    it(`${provider.name}: requests go where they are expected, with the credential and no other`, () =>
      isAskedAsSaid(provider))
})

const isAskedAsSaid = async (provider: Provider): Promise<void> => {
  const upstream = await upstreamOf(provider)
  await using running = await start({
    // the same entry, at an address of this machine
    upstreams: (url) => [{ ...upstream, base_url: upstream.base_url.replace(/^https?:\/\/[^/]+/, url) }],
  })
  const isLogin = upstream.auth === 'passthrough'
  const versions = upstream.styles[0] === 'messages' ? VERSIONS : {}
  for (const url of provider.asked) {
    assert.equal(url.host, new URL(upstream.base_url).host)
    const lines = await asking(running, url, { ...(isLogin ? LOGIN : {}), ...versions })
    const shown = lines.filter((line) => CREDENTIALS.test(line))
    assert.deepEqual(shown, credentialsWanted(provider, isLogin), `${url}`)
    for (const [name, value] of Object.entries(versions)) assert.ok(lines.includes(`${name}: ${value}`))
  }
}
