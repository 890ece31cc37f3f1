import { type Gateway, GuardError, type Plugin, type ProxyRequest, stages } from 'guard-gateway/core'
import { KeyedQueue } from 'guard-gateway/lib/keyed-queue'
import { usageTap } from './late-usage.ts'
import { mayUse, storedResponse } from './stored-response.ts'

/** Before the pause: it is that of the session that made the response. */
const STAGE = stages.proxy.pause - 10
/** Longer ids are on no record. */
const MAX_ID = 256

/** Has requests about a response that a provider stores answered where it was made, for its project alone, and records usage that only they tell. */
export const storedResponses = (): Plugin => ({
  name: 'stored-responses',
  requires: ['sessions', 'recorder'],
  apply(gateway: Gateway) {
    const queue = new KeyedQueue()
    const alone = (id: string, work: () => Promise<void>): Promise<void> => queue.run(id, work)
    gateway.hooks.proxy.tapPromise({ name: 'stored-responses', stage: STAGE }, async (request) => {
      const named = responseIn(request)
      if (named === undefined) return undefined
      await lead(gateway, request, named.id)
      if (named.isWhole) request.tap = usageTap(gateway, request, named.id, alone)
      return undefined
    })
  },
})

/** Leads a request to the upstream that made the response, as one of its session. Throws NOT_FOUND for a key of other projects. */
const lead = async (gateway: Gateway, request: ProxyRequest, id: string): Promise<void> => {
  const stored = await storedResponse(gateway, id)
  if (stored === undefined) return
  if (!mayUse(request.identity, stored))
    throw new GuardError('NOT_FOUND', 'There is no such response in the projects of this key.')
  const { upstream, session_id } = stored.made
  if (upstream !== null) request.upstream = upstream
  if (session_id !== null) request.session_id = session_id
}

interface NamedResponse {
  readonly id: string
  /** The reply is the response itself. */
  readonly isWhole: boolean
}

/** The response that a path is about. */
const responseIn = ({ path, styles }: ProxyRequest): NamedResponse | undefined => {
  const [, name = '', rest] = /^\/v1\/responses\/([^/]+)(?:\/(cancel|input_items))?$/.exec(path) ?? []
  const id = decoded(name)
  if (id === '' || id.length > MAX_ID || !styles.includes('responses')) return undefined
  return { id, isWhole: rest !== 'input_items' }
}

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}
