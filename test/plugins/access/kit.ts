import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Gateway, Plugin } from 'guard-gateway/core'
import { serve } from 'guard-gateway/plugins/http'
import { createGateway } from 'guard-gateway/presets/default'
import { runAs, type Scope, thisMachine } from '#lib/principal'
import { parseConfig } from '../../../presets/default/config.ts'
import { storageOf } from '../../kit/gateway.ts'

export const GATEWAY_KEY = 'guard_test_key_that_is_long_enough'

/** A gateway that other machines can reach: it listens on every address, and is asked by 127.0.0.1. */
export interface Remote {
  readonly gateway: Gateway
  readonly url: string
  /** Makes a key, as the first one is made: on the machine itself. */
  key(scopes: readonly Scope[], projects?: readonly string[], name?: string): Promise<{ key: string; id: string }>
  ask(path: string, options?: AskOptions): Promise<Answer>
  [Symbol.asyncDispose](): Promise<void>
}

export interface AskOptions {
  readonly method?: string
  readonly key?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, unknown>
}

export interface RemoteOptions {
  readonly config?: string
  readonly plugins?: readonly Plugin[]
  readonly host?: string
  readonly backend?: string
  readonly folder?: string
}

export const remote = async ({
  config: more = '',
  plugins = [],
  host = '0.0.0.0',
  backend,
  folder,
}: RemoteOptions = {}): Promise<Remote> => {
  const place = folder ?? (await mkdtemp(join(tmpdir(), 'guard-access-')))
  const text = `gateway_key: ${GATEWAY_KEY}\nstorage: { ${await storageOf({ ...(backend && { backend }) })} }\n${more}`
  const { config } = await parseConfig(text, join(place, 'guard-config.yml'), {})
  const gateway = await createGateway(config, plugins)
  const log = new Writable({ write: (_chunk, _encoding, done) => done() })
  const { port, close } = await serve(gateway, { host, port: 0, log })
  const url = `http://127.0.0.1:${port}`
  return {
    gateway,
    url,
    key: async (scopes, projects, name = 'tester') => {
      const answer = await ask(url, '/api/keys', {
        method: 'POST',
        headers: { 'x-guard-approver-key': gateway.approver.pass },
        body: { name, scopes, ...(projects === undefined ? {} : { projects }) },
      })
      const { key, access_key } = answer.json as { key: string; access_key: { id: string } }
      return { key, id: access_key.id }
    },
    ask: (path, options) => ask(url, path, options),
    async [Symbol.asyncDispose]() {
      await close()
      if (folder === undefined) await rm(place, { recursive: true, force: true })
    },
  }
}

const ask = async (
  url: string,
  path: string,
  { method = 'GET', key, body, headers = {} }: AskOptions = {},
): Promise<Answer> => {
  const isForm = body instanceof URLSearchParams
  const answer = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
}

const parsed = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Work that sees some projects alone. */
export const within = <T>(projects: readonly string[], work: () => T): T => runAs({ ...thisMachine, projects }, work)
