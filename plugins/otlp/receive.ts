import { type Fragment, type FragmentRun, type Gateway, GuardError, type RunDraft } from 'guard-gateway/core'
import { storedId } from 'guard-gateway/lib/ids'
import { type JsonObject, pointerOf } from 'guard-gateway/lib/json'
import { fromOtlp, MetadataOnly, type OtlpReading, type OtlpRun, semconv } from 'guard-gateway/lib/otlp'
import { isSessionName, namedSession } from 'guard-gateway/lib/session'
import { Pace } from 'guard-gateway/lib/time-slice'
import { ImportFault } from 'guard-gateway/lib/trace-file'
import type { PartialSuccess } from './codec.ts'
import { fragmentOf } from './fragment.ts'
import { withinLimits } from './limits.ts'
import { withPreviews } from './previews.ts'
import { validate } from './validate.ts'
import { writeFragments } from './write.ts'

export interface ReceiveContext {
  readonly gateway: Gateway
  /** From the request header. It overrides the project in the data. */
  readonly project_id: string | undefined
  /** Whether previews of prompts and replies are stored. */
  readonly storesContent: boolean
}

/** Stores the valid part of OTLP trace data and reports the rest. Throws for data that is invalid as a whole, and for storage errors. */
export const receive = async (context: ReceiveContext, body: unknown): Promise<PartialSuccess | undefined> => {
  const { gateway, storesContent } = context
  // yields between the steps, each of which processes up to 32 MiB
  const pace = new Pace()
  await pace.rest()
  const { data, received: sent, notes: skipped } = validate(body)
  await pace.rest()
  const { runs, rejected } = await readData(data, storesContent, pace)
  const notes = [...skipped, ...rejected.map(({ message, place }) => `${pointerOf(place.path)}: ${message}`)]
  const names = new MetadataOnly()
  const fragments: Fragment[] = []
  let rejected_spans = sent - runs.reduce((sum, { spans }) => sum + spans.length, 0)
  await pace.rest()
  for (const found of runs) {
    if (pace.due) await pace.rest()
    const previewed = storesContent ? await withPreviews(found, gateway.redact, names, pace) : found
    const limited = await withinLimits(previewed, names, pace)
    const built = fragmentOf(limited.run, await runOf(context, limited.run), gateway.redact)
    notes.push(...limited.notes, ...built.notes)
    rejected_spans += built.lost_spans
    const { spans, events, artifacts } = built.fragment
    // without a valid record there is no run
    if (spans.length + events.length + artifacts.length > 0) fragments.push(built.fragment)
  }
  for (const { spans, others, notes: more } of await writeFragments(gateway, fragments)) {
    rejected_spans += spans.size
    notes.push(...more)
    for (const [id, { message }] of spans) notes.push(`span ${id}: ${message}`)
    for (const { message } of others) notes.push(message)
  }
  return partial(rejected_spans, sent, notes)
}

const partial = (
  rejectedSpans: number,
  sent: number,
  [first, ...more]: readonly string[],
): PartialSuccess | undefined => {
  if (first === undefined && rejectedSpans === 0) return undefined
  const count = `${rejectedSpans} of ${sent} spans were rejected`
  const reason = first === undefined ? '' : `; ${first}`
  const suffix = more.length === 0 ? '' : ` (and ${more.length} more)`
  return { rejectedSpans, errorMessage: count + reason + suffix }
}

const readData = async (data: JsonObject, storesContent: boolean, pace: Pace): Promise<OtlpReading> => {
  try {
    return await fromOtlp(data, { keepsContent: () => storesContent }, pace)
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    const path = pointerOf(error.place.path)
    throw new GuardError('INVALID_TRACE', `${path}: ${error.message}`, { path, cause: error })
  }
}

const RESOURCE_SERVICE = `resource.${semconv.service}`

/** What spans only suggest takes effect where nobody has said more: service as agent, root as name. Spans of another request may tell better. */
const withInferred = (draft: RunDraft): FragmentRun => {
  const { agent_name, name, tags, ...run } = draft
  const isService = typeof agent_name === 'string' && agent_name === run.attributes?.[RESOURCE_SERVICE]
  return {
    ...run,
    ...(typeof agent_name === 'string' && { [isService ? 'default_agent_name' : 'agent_name']: agent_name }),
    ...(typeof name === 'string' && { default_name: name }),
    ...(tags !== undefined && { default_tags: tags }),
  }
}

const runOf = async (context: ReceiveContext, { run: draft, names, ours }: OtlpRun): Promise<FragmentRun> => {
  const { gateway } = context
  const { project_id: declared, ...base } = ours ? draft : withInferred(draft)
  const project = context.project_id ?? declared
  const isGuess = context.project_id === undefined && names.project_guessed === true
  const run = project === undefined ? base : { ...base, [isGuess ? 'default_project_id' : 'project_id']: project }
  const { session_id: named = run.session_id } = names
  const label = typeof named === 'string' && isSessionName(named) ? storedId(named, gateway.redact) : undefined
  if (label === undefined) return run
  return {
    ...run,
    session_id: await namedSession(gateway.storage, storedId(project ?? 'default', gateway.redact) ?? '', label),
  }
}
