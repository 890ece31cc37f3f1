import { type Client, type Gateway, GuardError, type ProxyRequest, type Reply } from 'guard-gateway/core'
import { clientCredentials } from '#lib/http'
import { readJsonStrict } from '#lib/json'
import { missingLogin } from './login.ts'
import { readWholeBody } from './read-body.ts'
import { sendUnguarded } from './send-unguarded.ts'
import type { Upstream } from './upstream.ts'

const TIMEOUT_MS = 3_000
const FRESH_MS = 60_000
const MAX_BYTES = 8 * 1024 * 1024
const MAX_DEPTH = 64

/** Answers a model list from several upstreams: asked at once, each for as long as a client waits, remembered for a minute. */
export const mergedModels = (gateway: Gateway) => {
  const remembered = new Map<string, { readonly models: readonly ListedModel[]; readonly until: number }>()
  const listOf = async (
    upstream: Upstream,
    request: ProxyRequest,
    client: Client,
  ): Promise<readonly ListedModel[] | undefined> => {
    const shape = isMessages(request) ? 'messages' : 'openai'
    const key = `${upstream.name} ${shape}`
    const known = remembered.get(key)
    // a login of the client's own may see other models than the one before it
    if (known !== undefined && known.until > gateway.clock.tick() && upstream.rules.auth !== 'passthrough')
      return known.models
    try {
      const listRequest = { ...request, query: isMessages(request) ? '?limit=1000' : '' }
      clientCredentials.set(listRequest, clientCredentials.get(request) ?? [])
      const models = await read(gateway, withListTimeout(upstream), listRequest, client)
      remembered.set(key, { models, until: gateway.clock.tick() + FRESH_MS })
      return models
    } catch (error) {
      gateway.fault(error, `models:${upstream.name}`)
      return undefined
    }
  }
  return async (request: ProxyRequest, upstreams: readonly Upstream[], client: Client): Promise<Reply> => {
    // a client without a login sees the models of the other upstreams
    const refused = upstreams.map((upstream) => missingLogin(gateway, upstream, request))
    if (!refused.includes(undefined)) throw refused[0]
    const lists = await Promise.all(
      upstreams.map((upstream, index) =>
        refused[index] === undefined ? listOf(upstream, request, client) : undefined,
      ),
    )
    if (lists.every((list) => list === undefined)) {
      const names = upstreams.map(({ name }) => name).join(', ')
      throw new GuardError(
        'UPSTREAM_UNREACHABLE',
        `None of the upstreams ${names} has listed its models. Check base_url, api_key and the network.`,
      )
    }
    const merged = merge(upstreams, lists)
    return answer(isMessages(request) ? messagesList(merged) : openaiList(merged))
  }
}

/** Each model once, from the upstream that a request for it goes to. */
const merge = (
  upstreams: readonly Upstream[],
  lists: readonly (readonly ListedModel[] | undefined)[],
): readonly MergedModel[] => {
  const merged = new Map<string, MergedModel>()
  for (const [index, upstream] of upstreams.entries()) {
    for (const model of lists[index] ?? []) {
      const serving = upstreams.find((candidate) => candidate.serves(model.id))
      if (serving === upstream && !merged.has(model.id)) merged.set(model.id, { ...model, upstream: upstream.name })
    }
  }
  return [...merged.values()]
}

const isMessages = ({ styles }: ProxyRequest): boolean => styles.includes('messages')

/** The same upstream, given up where it takes longer than a client waits for its list. */
const withListTimeout = (upstream: Upstream): Upstream => {
  const { headers_ms, total_ms } = upstream.timeouts
  const longest_ms = Math.min(total_ms || TIMEOUT_MS, TIMEOUT_MS)
  return {
    ...upstream,
    timeouts: { ...upstream.timeouts, headers_ms: Math.min(headers_ms, longest_ms), total_ms: longest_ms },
  }
}

const read = async (
  gateway: Gateway,
  upstream: Upstream,
  request: ProxyRequest,
  client: Client,
): Promise<readonly ListedModel[]> => {
  const response = await sendUnguarded(gateway, upstream, request, client)
  const text = await readWholeBody(response.body, MAX_BYTES)
  if (response.status !== 200)
    throw new GuardError('UPSTREAM_UNREACHABLE', `The list came with status ${response.status}.`)
  const body = readJsonStrict(text, { max_depth: MAX_DEPTH })
  const data: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'data') : undefined
  if (!Array.isArray(data)) throw new GuardError('UPSTREAM_UNREACHABLE', 'The list has no "data".')
  return data.filter(isListedModel)
}

const answer = (list: object): Reply => {
  const body = Buffer.from(JSON.stringify(list))
  return {
    status: 200,
    headers: ['content-type', 'application/json', 'content-length', String(body.length)],
    body,
    upstream: '',
    attempts: [],
    upstream_request_id: null,
    on_disconnect: 'abort',
  }
}

/** One model as an upstream lists it. */
interface ListedModel {
  readonly id: string
  readonly display_name?: unknown
  /** RFC 3339. */
  readonly created_at?: unknown
  /** Seconds since 1970. */
  readonly created?: unknown
}

/** A listed model and the upstream that serves it. */
type MergedModel = ListedModel & { readonly upstream: string }

const isListedModel = (entry: unknown): entry is ListedModel =>
  typeof entry === 'object' && entry !== null && typeof Reflect.get(entry, 'id') === 'string'

/** The list as clients of the Messages API read it. */
const messagesList = (models: readonly MergedModel[]): object => ({
  data: models.map(({ id, display_name, created_at, created }) => ({
    type: 'model',
    id,
    display_name: typeof display_name === 'string' ? display_name : id,
    created_at: typeof created_at === 'string' ? created_at : new Date(seconds(created) * 1000).toISOString(),
  })),
  has_more: false,
  first_id: models[0]?.id ?? null,
  last_id: models[models.length - 1]?.id ?? null,
})

/** The list as all other clients read it. */
const openaiList = (models: readonly MergedModel[]): object => ({
  object: 'list',
  data: models.map(({ id, created, upstream }) => ({
    id,
    object: 'model',
    created: seconds(created),
    owned_by: upstream,
  })),
})

/** A time in seconds that a date can hold; 0 for anything else. */
const seconds = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value < 1e11 ? Math.floor(value) : 0
