import type { Registry } from 'guard-gateway/core'
import { circuitDefaults, timeoutDefaults } from '#lib/config-defaults'
import { anyGlob } from '#lib/glob'
import { upstreamAddress } from '#lib/network'
import type { Connections, UpstreamAddress, UpstreamClient } from '#lib/upstream-client'
import { Availability } from './availability.ts'
import { UpstreamConnections } from './connections.ts'
import { type HeaderRules, headerRules } from './headers.ts'
import { KeyPool } from './key-pool.ts'
import type { Timeouts, UpstreamOptions } from './options.ts'

/** An upstream with everything precomputed that is the same for all its requests. */
export interface Upstream {
  readonly name: string
  readonly styles: readonly string[]
  /** As configured, for messages. */
  readonly models: readonly string[]
  /** Scheme, host and port, as plugins read it. */
  readonly origin: string
  /** Host name, as configured. */
  readonly address: string
  /** The proxy on the way, for messages. */
  readonly via: string | undefined
  readonly serves: (model: string) => boolean
  /** The projects whose requests it gets; null: all. */
  readonly projects: ReadonlySet<string> | null
  /** With its key, or the first of them. */
  readonly rules: HeaderRules
  readonly timeouts: Timeouts
  readonly connections: Connections
  /** Where WebSockets lead. */
  readonly route: UpstreamAddress
  /** The path of `base_url`, before a canonical path. */
  readonly prefix: string
  /** Its last segment between slashes, or empty. */
  readonly last: string
  readonly paths: ReadonlyMap<string, string>
  readonly model_map: ReadonlyMap<string, string>
  readonly inject_stream_usage: boolean
  readonly on_disconnect: 'abort' | 'drain'
  readonly websocket: 'auto' | 'on' | 'off'
  readonly fallback: readonly string[]
  /** Statuses that lead to a fallback, beside those of a server that fails. */
  readonly fallback_on: ReadonlySet<number>
  readonly availability: Availability
}

/** Resolves the options of an upstream. Throws TypeError for an invalid base URL or proxy. */
export const upstreamOf = (options: UpstreamOptions, clients: Registry<UpstreamClient>): Upstream => {
  const url = new URL(options.base_url)
  const timeouts = { ...timeoutDefaults, ...options.timeouts }
  const { connect_ms, idle_ms } = timeouts
  const address = upstreamAddress(url, { connect_ms, idle_ms }, options)
  const models = options.models ?? ['*']
  const { api_key, api_keys = [] } = options
  const keys = api_keys.length === 0 ? [api_key] : api_keys
  const rules = keys.map((key) => headerRules(url.host, options.auth ?? 'auto', key, options.headers ?? {}))
  const pool = rules.length > 1 ? new KeyPool(rules, options.key_order ?? 'in_order') : undefined
  const prefix = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')
  return {
    name: options.name,
    styles: options.styles,
    models,
    origin: url.origin,
    address: address.hostname,
    via: address.proxy?.label,
    serves: anyGlob(models),
    projects: onlyThose(options.projects),
    rules: rules[0] as HeaderRules,
    timeouts,
    connections: new UpstreamConnections(clients, options.client, address),
    route: address,
    prefix,
    last: prefix === '' ? '' : `${prefix.slice(prefix.lastIndexOf('/'))}/`,
    paths: new Map(Object.entries(options.paths ?? {})),
    model_map: new Map(Object.entries(options.model_map ?? {})),
    inject_stream_usage: options.inject_stream_usage ?? false,
    on_disconnect: options.on_disconnect ?? 'abort',
    websocket: options.websocket ?? 'auto',
    fallback: options.fallback ?? [],
    fallback_on: new Set(options.fallback_on ?? []),
    availability: new Availability({ ...circuitDefaults, ...options.circuit }, pool),
  }
}

/** Null for a list that names none. */
const onlyThose = (names: readonly string[] = []): ReadonlySet<string> | null =>
  names.length === 0 ? null : new Set(names)

/** A last segment of `base_url` that says a version of an API, which the path says too. */
const VERSION = /^\/v1(?:alpha|beta)\d*\/$/

/** A path at an upstream; a last segment of `base_url` that the path begins with, such as `/api` or the version of an API, is there once, as the path has it. */
export const joinedPath = ({ prefix, last }: Upstream, path: string): string => {
  const isTwice = last !== '' && (path.startsWith(last) || (VERSION.test(last) && /^\/v\d/.test(path)))
  return (isTwice ? prefix.slice(0, 1 - last.length) : prefix) + path
}

/** Where a guarded path of a style lies at an upstream. A configured path may have a query of its own, which the client's one follows. */
export const guardedPath = (upstream: Upstream, style: string, path: string, query: string): string => {
  const configured = upstream.paths.get(style)
  return withQuery(configured === undefined ? joinedPath(upstream, path) : upstream.prefix + configured, query)
}

const MODELS = '/v1/models'
const COUNTING = '/v1/messages/count_tokens'

/** The same for a path that no rule judges: a list of models lies at the path of `models`, token counting below that of messages. */
export const unguardedPath = (upstream: Upstream, path: string, query: string): string => {
  const { prefix, paths } = upstream
  const models = path === MODELS || path.startsWith(`${MODELS}/`) ? paths.get('models') : undefined
  if (models !== undefined) return withQuery(prefix + extended(models, path.slice(MODELS.length)), query)
  const messages = path === COUNTING ? paths.get('messages') : undefined
  if (messages !== undefined) return withQuery(prefix + extended(messages, '/count_tokens'), query)
  return joinedPath(upstream, path) + query
}

/** A path with more at its end, before the query it may have. */
const extended = (path: string, more: string): string => {
  const mark = path.indexOf('?')
  return mark === -1 ? path + more : path.slice(0, mark) + more + path.slice(mark)
}

const withQuery = (path: string, query: string): string => path + (path.includes('?') ? query.replace('?', '&') : query)
