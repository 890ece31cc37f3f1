import {
  type FragmentRun,
  fromOtlp,
  type Gateway,
  GuardError,
  guardNames,
  ImportFault,
  isSessionName,
  isShape,
  listOf,
  namedSession,
  type OtlpReading,
  type OtlpRun,
  pointerOf,
  type RunDraft,
  semconv,
  shapeOf,
} from 'guard-gateway/core'
import type { PartialSuccess } from './codec.ts'
import { withPreviews } from './content.ts'
import { fragmentOf } from './fragment.ts'
import { keepAll, type Wanted } from './keep.ts'

/** Spans, or events, of one request. */
const MAX_RECORDS = 10_000

export interface Receiving {
  readonly gateway: Gateway
  /** Of the request's header; goes before what the data say. */
  readonly project_id: string | undefined
  /** Keep previews of what people and models said. */
  readonly keepsContent: boolean
}

/** Keeps OTLP trace data as far as it can be used, and says what could not. Throws what is wrong with the data as a whole, and why nothing could be stored. */
export const receive = async (receiving: Receiving, data: unknown): Promise<PartialSuccess | undefined> => {
  const { gateway, keepsContent } = receiving
  const sent = countSpans(data)
  const { runs, rejected } = readData(data, keepsContent)
  const notes = rejected.map(({ message, place }) => `${pointerOf(place.path)}: ${message}`)
  const wanted: Wanted[] = []
  let lost = sent - runs.reduce((sum, { spans }) => sum + spans.length, 0)
  for (const found of runs) {
    const shown = keepsContent ? withPreviews(found, gateway.redact) : found
    const made = fragmentOf(shown, await runOf(receiving, shown), gateway.redact)
    notes.push(...made.notes)
    lost += made.lost_spans
    const { spans, events, artifacts } = made.fragment
    // nothing of it can be used, so there is no run to begin
    if (spans.length + events.length + artifacts.length === 0) continue
    wanted.push({ fragment: made.fragment, guessed: guessesProject(receiving, found.run) })
  }
  for (const { spans, others } of await keepAll(gateway, wanted)) {
    lost += spans.size
    for (const [id, { message }] of spans) notes.push(`span ${id}: ${message}`)
    for (const { message } of others) notes.push(message)
  }
  return partial(lost, sent, notes)
}

const partial = (
  rejectedSpans: number,
  sent: number,
  [first, ...more]: readonly string[],
): PartialSuccess | undefined => {
  if (first === undefined && rejectedSpans === 0) return undefined
  const count = `${rejectedSpans} of ${sent} spans were refused`
  const reason = first === undefined ? '' : `; ${first}`
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`
  return { rejectedSpans, errorMessage: count + reason + rest }
}

const readData = (data: unknown, keepsContent: boolean): OtlpReading => {
  if (!isShape(data))
    throw new GuardError('INVALID_TRACE', 'The body must be an object with "resourceSpans".', { path: '' })
  try {
    return fromOtlp(data, { keepsContent: () => keepsContent })
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    const path = pointerOf(error.place.path)
    throw new GuardError('INVALID_TRACE', `${path}: ${error.message}`, { path, cause: error })
  }
}

/** How many spans there are, before any is read. Throws BODY_TOO_LARGE. */
const countSpans = (data: unknown): number => {
  let spans = 0
  let events = 0
  for (const group of listOf(shapeOf(data).resourceSpans)) {
    for (const scoped of listOf(shapeOf(group).scopeSpans)) {
      const list = listOf(shapeOf(scoped).spans)
      spans += list.length
      for (const span of list) events += listOf(shapeOf(span).events).length
    }
  }
  if (spans > MAX_RECORDS || events > MAX_RECORDS)
    throw new GuardError(
      'BODY_TOO_LARGE',
      `A request has at most ${MAX_RECORDS} spans and as many events, not ${Math.max(spans, events)}. Send smaller batches.`,
    )
  return spans
}

/** The project follows from the name of the service alone, which a run that is there need not bear. */
const guessesProject = ({ project_id }: Receiving, { attributes = {} }: RunDraft): boolean =>
  project_id === undefined &&
  attributes[RESOURCE_PROJECT] === undefined &&
  typeof attributes[RESOURCE_SERVICE] === 'string'

const RESOURCE_PROJECT = `resource.${guardNames.project}`
const RESOURCE_SERVICE = `resource.${semconv.service}`

/** The service gives the agent its name where no span does: what spans of another request said is better. */
const withGuessedAgent = (draft: RunDraft): FragmentRun => {
  const { agent_name, ...run } = draft
  const isService = typeof agent_name === 'string' && agent_name === run.attributes?.[RESOURCE_SERVICE]
  return isService ? { ...run, default_agent_name: agent_name } : draft
}

const runOf = async ({ gateway, project_id }: Receiving, { run: draft, names }: OtlpRun): Promise<FragmentRun> => {
  const project = project_id ?? draft.project_id
  const about = withGuessedAgent(draft)
  const run = project === undefined ? about : { ...about, project_id: project }
  const { session_id: named = run.session_id } = names
  if (typeof named !== 'string' || !isSessionName(named)) return run
  return { ...run, session_id: await namedSession(gateway.storage, project ?? 'default', named) }
}
