import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Clock, Gateway, Plugin } from 'guard-gateway/core'
import { serve } from 'guard-gateway/plugins/http'
import { createGateway, parseConfig } from 'guard-gateway/presets/default'

export interface StartOptions {
  /** Base address of the one upstream, which serves every style and model. */
  readonly upstream?: string
  /** Further sections of the configuration file, as YAML. */
  readonly config?: string
  /** Id of a storage backend; if absent, the one that `GUARD_TEST_BACKEND` names, else memory. */
  readonly backend?: string
  /** Further members of the `storage` section, as flow YAML: `full_content_logging: true`. */
  readonly storage?: string
  /** Where the database stands; a new folder that `close` removes, if absent. */
  readonly folder?: string
  /** One of the system's choice, if absent. */
  readonly port?: number
  readonly plugins?: readonly Plugin[]
  readonly clock?: Clock
}

/** A gateway of the default preset that listens. */
export interface Started {
  readonly gateway: Gateway
  readonly url: string
  readonly key: string
  readonly folder: string
  /** JSON over HTTP; the key is sent along. */
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** What the gateway has logged so far. */
  logText(): string
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined if the text is no JSON. */
  readonly json: unknown
}

const KEY = 'guard_test_key_that_is_long_enough'

export const startGateway = async (options: StartOptions = {}): Promise<Started> => {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'guard-test-')))
  const upstreams =
    options.upstream === undefined
      ? ''
      : `upstreams: [{ name: provider, base_url: "${options.upstream}", styles: [messages, responses, chat_completions, gemini, ollama] }]`
  const text = `gateway_key: ${KEY}\nstorage: { ${await storageOf(options)} }\n${upstreams}\n${options.config ?? ''}`
  const { config } = await parseConfig(text, join(folder, 'guard-config.yml'), {})
  const gateway = await createGateway(config, options.plugins, undefined, options.clock)
  let logged = ''
  const log = new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk)
      done()
    },
  })
  const { url, close } = await serve(gateway, { port: options.port ?? 0, log })
  return {
    gateway,
    url,
    key: KEY,
    folder,
    logText: () => logged,
    request: (method, path, body, headers) => request(url + path, method, body, headers),
    close: async () => {
      await close()
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Members of the `storage` section. */
export const storageOf = async ({
  backend = process.env.GUARD_TEST_BACKEND ?? 'memory',
  storage = '',
}: Pick<StartOptions, 'backend' | 'storage'>): Promise<string> => {
  if (backend !== 'postgres') return `backend: ${backend}, file: guard.db, ${storage}`
  if (storage.includes('url:')) return `backend: postgres, ${storage}`
  const { newDatabase } = await import('./postgres.ts')
  return `backend: postgres, url: "${await newDatabase()}", ${storage}`
}

const request = async (
  url: string,
  method: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> => {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
