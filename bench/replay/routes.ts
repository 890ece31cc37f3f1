import type { Readable } from 'node:stream'
import fastify from 'fastify'
import type { Gateway, Plugin } from 'guard-gateway/core'
import { asFastifyPlugin, http } from 'guard-gateway/plugins/http'
import { readJson } from '#lib/json'
import { replayGateway } from './open.ts'

/** The HTTP routes of a trace store, called without a network. */
export interface Routes {
  readonly gateway: Gateway
  /** The body of a successful response. `body` makes the request a POST. */
  request(path: string, body?: string | Readable): Promise<string>
  close(): Promise<void>
}

const HOST = '127.0.0.1:8787'

/** `store`: a database file, or another storage. */
export const openRoutes = async (store: string | Plugin): Promise<Routes> => {
  const gateway = replayGateway(store, http({ gateway_key: 'guard_bench_key_0123456789' }))
  const app = fastify()
  await app.register(asFastifyPlugin(gateway))
  await app.ready()
  return {
    gateway,
    request: async (url, payload) => {
      const common = { url, headers: { host: HOST, 'content-type': 'application/json' } }
      const { statusCode, body } = await app.inject(
        payload === undefined ? { ...common, method: 'GET' } : { ...common, method: 'POST', payload },
      )
      if (statusCode >= 300) throw new Error(`${url} answers ${statusCode}: ${body.slice(0, 300)}`)
      return body
    },
    close: () => app.close(),
  }
}

/** The fields of a list page that a bench reads. */
export interface ListPage {
  readonly runs: readonly { readonly trace_id: string; readonly session_id: string | null }[]
  readonly next_cursor: string | null
}

export const listPage = async (routes: Routes, query: string): Promise<ListPage> =>
  readJson(await routes.request(`/api/v1/runs?${query}`)) as ListPage
