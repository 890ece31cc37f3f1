import {
  type Call,
  type Gateway,
  type Plugin,
  type ProviderObject,
  type ProxyRequest,
  stages,
} from 'guard-gateway/core'
import { objectsInPath } from '#lib/api-style'
import { KeyedQueue } from '#lib/keyed-queue'
import { Upkeep } from '#lib/time-slice'
import { usageTap } from './late-usage.ts'
import { type Owner, Owners } from './owners.ts'
import { makesObjects, namesTap } from './reply-objects.ts'
import { objectTable } from './tables.ts'

/** Before an upstream is chosen: what a request names is where it was made. */
const REQUEST_STAGE = stages.request.configuration + 50
/** Before the pause: it is that of the session that made the object. */
const PROXY_STAGE = stages.proxy.pause - 10

declare module 'guard-gateway/core' {
  interface Services {
    /** Whose the objects of the provider's account are. */
    providerObjects: Pick<Owners, 'check'>
  }
}

/** Keeps whose an object of a provider's account is and where it was made, has it asked for there and for its project alone, and records usage that only a later reply tells. */
export const providerObjects = (): Plugin => ({
  name: 'provider-objects',
  requires: ['sessions', 'recorder'],
  apply(gateway: Gateway) {
    gateway.tables.add(objectTable)
    const owners = new Owners(gateway)
    gateway.service('providerObjects').provide(owners)
    gateway.hooks.named.tap('provider-objects', ({ upstream, ...object }, call) => {
      if (isStored(object, call))
        owners.note(object, { project_id: call.project_id, upstream, session_id: call.session?.row.id ?? null })
    })
    gateway.hooks.request.tapPromise({ name: 'provider-objects', stage: REQUEST_STAGE }, (call) => {
      const { objects = [] } = call.admission ?? {}
      return objects.length === 0 ? undefined : leadCall(owners, call)
    })
    const proxied = proxyHandler(gateway, owners)
    gateway.hooks.proxy.tapPromise({ name: 'provider-objects', stage: PROXY_STAGE }, proxied)
    const upkeep = new Upkeep(
      gateway.service('cluster'),
      (error) => gateway.fault(error, 'provider-objects:upkeep'),
      () => removeOld(gateway),
    )
    gateway.hooks.open.tap('provider-objects', ({ beside }) => {
      if (!beside) upkeep.begin()
    })
    gateway.hooks.close.tapPromise('provider-objects', () => upkeep.end())
  },
})

const DAY_MS = 86_400_000
/** Longer than providers keep what nobody uses. */
const RETENTION_MS = 400 * DAY_MS
const AT_ONCE = 1_000

/** Forgets objects 400 days after they were named first. */
const removeOld = async ({ storage, clock }: Gateway): Promise<void> => {
  const old = { created_at: { lt: clock.now() - RETENTION_MS } }
  while ((await storage.remove('provider_objects', old, AT_ONCE)) === AT_ONCE);
}

/** A reply is there later if its request says so, or says nothing to a dialect that keeps them by itself. Each reply has several items: they are kept where keys are bound. */
const isStored = ({ kind }: ProviderObject, { envelope: { store }, identity }: Call): boolean => {
  if (kind === 'completion') return store === true
  if (kind === 'item' && (identity.projects ?? null) === null) return false
  return (kind !== 'response' && kind !== 'item') || store !== false
}

/** Leads a call to the upstream that has what it names. Rejects with NOT_FOUND for a key of other projects. */
const leadCall = async (owners: Owners, call: Call): Promise<void> => {
  const found = await owners.check(call.admission?.objects ?? [], call.identity)
  call.upstream ??= upstreamOf(found)
}

const upstreamOf = (found: readonly (Owner | undefined)[]): string | null =>
  found.find((owner) => owner !== undefined && owner.upstream !== '')?.upstream ?? null

const proxyHandler = (gateway: Gateway, owners: Owners) => {
  const queue = new KeyedQueue()
  const alone = (id: string, work: () => Promise<void>): Promise<void> => queue.run(id, work)
  return async (request: ProxyRequest): Promise<undefined> => {
    const { objects } = request.admission
    const found = await owners.check(objects, request.identity)
    const upstream = upstreamOf(found)
    if (upstream !== null) request.upstream = upstream
    const session_id = found.find((owner) => (owner?.session_id ?? null) !== null)?.session_id ?? null
    if (session_id !== null) request.session_id = session_id
    const response = retrieved(request)
    if (response !== undefined) request.tap = usageTap(gateway, request, response, alone)
    else if (makesObjects(request)) request.tap = namesTap(gateway, request, owners, pathOwner(request, found))
    return undefined
  }
}

/** The owner of what the path names first; its objects come first. */
const pathOwner = ({ admission: { path } }: ProxyRequest, found: readonly (Owner | undefined)[]): Owner | undefined =>
  objectsInPath(path).length === 0 ? undefined : found[0]

/** The response that the reply is, where it is one that a provider keeps. */
const retrieved = ({ admission: { path }, styles }: ProxyRequest): string | undefined =>
  styles.includes('responses') ? /^\/v1\/responses\/([^/]+)(?:\/cancel)?$/.exec(path)?.[1] : undefined
