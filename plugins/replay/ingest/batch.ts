import { type FragmentRun, GuardError, statusOf } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import { replayErrors } from '../error-codes.ts'
import { BodyRecords } from './body-records.ts'
import { clientFragment, type Ingest, readRun } from './ingest.ts'

const MAX_EVENTS = 10_000

export interface BatchAnswer {
  readonly accepted: number
  readonly events: readonly { readonly index: number; readonly trace_id: string; readonly id: string }[]
  readonly rejected: readonly { readonly index: number; readonly code: string; readonly message: string }[]
}

/** An event with the fields of its run. */
interface Item {
  readonly index: number
  readonly record: JsonObject
  readonly run: FragmentRun
}

/** Stores the events of a batch. An invalid event does not affect others. Throws NO_EVENT_ACCEPTED if none is valid. */
export const ingestEvents = async (ingest: Ingest, body: unknown): Promise<BatchAnswer> => {
  const { list, about, path } = listOf(body)
  const rejected = new Map<number, GuardError>()
  const groups = new Map<string, Item[]>()
  for (const [index, record] of list.entries()) {
    const refusal = await requestErrorOf(async () => {
      const item = { index, ...(await itemOf(ingest, record, about)) }
      const group = groups.get(item.run.trace_id)
      if (group === undefined) groups.set(item.run.trace_id, [item])
      else if (isOfProject(item, group)) group.push(item)
      else
        throw new GuardError(replayErrors.TRACE_CONFLICT, 'An event before it names another project for the same run.')
    })
    if (refusal !== undefined) rejected.set(index, refusal)
  }
  const events: Accepted[] = []
  for (const items of groups.values()) events.push(...(await storeGroup(ingest, items, rejected)))
  const refused = [...rejected]
    .map(([index, { code, message }]) => ({ index, code, message }))
    .sort((a, b) => a.index - b.index)
  if (events.length === 0 && refused.length > 0) throw noneAccepted(refused, path)
  return { accepted: events.length, events: events.sort((a, b) => a.index - b.index), rejected: refused }
}

const projectIn = (items: readonly Item[]): Item | undefined => items.find(({ run }) => run.project_id !== undefined)

const isOfProject = ({ run }: Item, group: readonly Item[]): boolean =>
  run.project_id === undefined || run.project_id === (projectIn(group) ?? { run }).run.project_id

const noneAccepted = ([first]: BatchAnswer['rejected'], path: string): GuardError =>
  new GuardError(
    replayErrors.NO_EVENT_ACCEPTED,
    `No event of the batch can be used. The first: ${first?.code}: ${first?.message}`,
    { path: `${path}/${first?.index}` },
  )

/** Items of a batch, and the pointer of its list. */
interface Batch {
  readonly list: readonly unknown[]
  readonly about: JsonObject
  readonly path: string
}

const listOf = (body: unknown): Batch => {
  const path = isJsonObject(body) ? '/events' : ''
  const about = isJsonObject(body) ? body : {}
  const list = isJsonObject(body) ? body.events : body
  if (!Array.isArray(list))
    throw new GuardError(replayErrors.INVALID_EVENT, 'Send a list of events, or an object with a list "events".', {
      path,
    })
  if (list.length > MAX_EVENTS)
    throw new GuardError('BODY_TOO_LARGE', `A batch has at most ${MAX_EVENTS} events. Send several.`)
  return { list, about, path }
}

const itemOf = async (ingest: Ingest, record: unknown, about: JsonObject): Promise<Omit<Item, 'index'>> => {
  if (!isJsonObject(record) || Array.isArray(record))
    throw new GuardError(replayErrors.INVALID_EVENT, 'An event must be an object.')
  const trace_id = record.trace_id ?? about.trace_id ?? undefined
  if (trace_id === undefined) throw new GuardError(replayErrors.TRACE_ID_REQUIRED)
  const records = new BodyRecords(ingest.gateway.redact)
  const run = await readRun(ingest, { trace_id, project_id: record.project_id ?? about.project_id }, records)
  records.addEvent(record, { path: [] })
  const [event] = records.events
  return { run, record: { ...record, id: event?.id } }
}

/** Retries per run, each without one rejected event; after that the rest is rejected. */
const ROUNDS = 32

interface Accepted {
  readonly index: number
  readonly trace_id: string
  readonly id: string
}

/** Stores the events of one run. It drops a rejected event and retries the rest. */
const storeGroup = async (
  ingest: Ingest,
  items: readonly Item[],
  rejected: Map<number, GuardError>,
  round = 0,
): Promise<readonly Accepted[]> => {
  const { records, taken } = readAll(ingest, items, rejected)
  const [first] = taken
  if (first === undefined) return []
  const refusal = await requestErrorOf(() =>
    ingest.gateway.keep([clientFragment((projectIn(taken) ?? first).run, records)]),
  )
  if (refusal === undefined)
    return taken.map(({ index, run }, at) => ({ index, trace_id: run.trace_id, id: records.events[at]?.id ?? '' }))
  const odd = round < ROUNDS ? taken[indexOf(refusal)] : undefined
  for (const { index } of odd === undefined ? taken : [odd]) rejected.set(index, refusal)
  return odd === undefined
    ? []
    : storeGroup(
        ingest,
        taken.filter((item) => item !== odd),
        rejected,
        round + 1,
      )
}

/** Returns errors of the request, and rethrows errors of the gateway. */
const requestErrorOf = async (work: () => Promise<unknown>): Promise<GuardError | undefined> => {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof GuardError && statusOf(error) < 500) return error
    throw error
  }
}

/** Index of the event of an error; -1 for the run. */
const indexOf = ({ place }: GuardError): number => Number(/^\/events\/(\d+)/.exec(place.path ?? '')?.[1] ?? -1)

const readAll = (ingest: Ingest, items: readonly Item[], rejected: Map<number, GuardError>) => {
  const records = new BodyRecords(ingest.gateway.redact)
  const taken = items.filter(({ index, record }) => {
    try {
      records.addEvent(record, { path: [] })
      return true
    } catch (error) {
      if (!(error instanceof GuardError)) throw error
      rejected.set(index, error)
      return false
    }
  })
  return { records, taken }
}
