import type { IncomingHttpHeaders } from 'node:http'
import {
  type ApiStyle,
  type Client,
  type Gateway,
  GuardError,
  type ProxyRequest,
  type Reply,
  relay,
} from 'guard-gateway/core'
import type { RequestTarget } from '#lib/api-style'
import { inflated } from '#lib/http'
import { memberValue } from '#lib/request-reader'
import { bindProject } from '../admission/bound-project.ts'
import { readInboundHeaders } from '../admission/inbound-headers.ts'
import type { Serve } from '../http-server-state.ts'
import { admissionOf, objectsAt, objectsInBody, objectsInQuery } from './admission.ts'
import { readBody } from './body-reader.ts'
import { keepLogin, queryFor, queryLogin } from './call.ts'
import { mayBeJson } from './exchange.ts'

/** Where an unguarded request goes. */
export interface Destination {
  /** Canonical. */
  readonly path: string
  readonly styles: readonly string[]
  /** In place of that of the request. */
  readonly method?: string
}

/** The destination of an unguarded path that a style declares for a method; HEAD goes up as the GET that it stands for. */
export const unguarded = (style: ApiStyle, target: RequestTarget, method: string): Serve =>
  passthrough({ path: target.path, styles: [style.id], method }, target)

const noTap = { push: () => {} }

/** Forwards a request without applying rules; the response passes unchanged too. */
export const passthrough =
  (destination: Destination, target?: RequestTarget): Serve =>
  async ({ state, id, request, style }, client, { identity, count }) => {
    const { gateway, server } = state
    const hold = (bytes: number) => state.raiseHold(client, bytes)
    const body = hasBody(request.headers)
      ? await readBody(request, server.body_limit_bytes, gateway.service('requests').need().bodies, hold)
      : undefined
    const received = readInboundHeaders(gateway, request.rawHeaders, count)
    bindProject(received.headers, identity.projects)
    const { query, keys } = queryFor(style, request.url)
    const plain =
      body === undefined
        ? undefined
        : await inflated(body, request.headers['content-encoding'], server.body_limit_bytes)
    const objects = [
      ...objectsAt(destination.path),
      ...objectsInQuery(query),
      ...(plain === undefined ? [] : objectsInBody(plain)),
    ]
    const proxied: ProxyRequest = {
      id,
      method: destination.method ?? request.method ?? 'GET',
      path: destination.path,
      styles: destination.styles,
      query,
      model: modelIn(style, target) ?? modelOf(plain, request.headers),
      headers: received.headers,
      raw_headers: received.raw,
      identity,
      admission: admissionOf(request, destination.path, received.headers, objects),
      body,
    }
    keepLogin(proxied, received, queryLogin(gateway, style, keys))
    client.proxied = proxied
    const reply = await gateway.hooks.proxy.promise(proxied, client)
    if (reply === undefined) throw new GuardError('NO_UPSTREAM')
    client.head(reply.status, [...reply.headers, 'x-guard-request-id', id], true)
    await passOn(gateway, proxied, reply, client)
  }

/** Passes a reply on; who hears it is done with it before it ends. */
const passOn = async (
  { clock, fault }: Gateway,
  proxied: ProxyRequest,
  reply: Reply,
  client: Client,
): Promise<void> => {
  const tap = proxied.tap?.(reply)
  const { ended, held } = await relay(reply, client, tap ?? noTap, () => clock.now(), 0)
  await tap?.end().catch((error: unknown) => fault(error, 'http:tap'))
  if (ended === 'complete') client.end(held)
  else client.cut()
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The model that the parameters of a path name. */
const modelIn = (style: ApiStyle | undefined, target: RequestTarget | undefined): string | null =>
  style === undefined || target === undefined || Object.keys(target.params).length === 0
    ? null
    : style.envelope({}, target).model || null

/** The model that a body names; null for a body of any other form, which is the upstream's to judge. */
const modelOf = (plain: Buffer | undefined, headers: IncomingHttpHeaders): string | null => {
  if (plain === undefined || !mayBeJson(headers['content-type'])) return null
  try {
    const model = memberValue(plain, 'model')
    return typeof model === 'string' ? model : null
  } catch {
    return null
  }
}
