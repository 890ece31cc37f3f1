import { type Fragment, type FragmentRun, type Gateway, GuardError, type RunDraft } from 'guard-gateway/core'
import { pointerOf, type Shape } from 'guard-gateway/lib/json'
import { fromOtlp, guardNames, MetadataOnly, type OtlpReading, type OtlpRun, semconv } from 'guard-gateway/lib/otlp'
import { isSessionName, namedSession } from 'guard-gateway/lib/session'
import { Pace } from 'guard-gateway/lib/time-slice'
import { ImportFault } from 'guard-gateway/lib/trace-file'
import type { PartialSuccess } from './codec.ts'
import { fragmentOf } from './fragment.ts'
import { withinLimits } from './limits.ts'
import { withPreviews } from './previews.ts'
import { validate } from './validate.ts'
import { writeFragments } from './write.ts'

export interface Receiving {
  readonly gateway: Gateway
  /** Of the request's header; goes before what the data say. */
  readonly project_id: string | undefined
  /** Keep previews of what people and models said. */
  readonly keepsContent: boolean
}

/** Stores OTLP trace data as far as it is valid, and reports the rest. Throws for invalid data as a whole, and storage errors. */
export const receive = async (receiving: Receiving, body: unknown): Promise<PartialSuccess | undefined> => {
  const { gateway, keepsContent } = receiving
  // yields between the steps, each of which goes through up to 32 MiB
  const pace = new Pace()
  await pace.rest()
  const { data, sent, notes: skipped } = validate(body)
  await pace.rest()
  const { runs, rejected } = await readData(data, keepsContent, pace)
  const notes = [...skipped, ...rejected.map(({ message, place }) => `${pointerOf(place.path)}: ${message}`)]
  const names = new MetadataOnly()
  const fragments: Fragment[] = []
  let lost = sent - runs.reduce((sum, { spans }) => sum + spans.length, 0)
  await pace.rest()
  for (const found of runs) {
    if (pace.due) await pace.rest()
    const previewed = keepsContent ? await withPreviews(found, gateway.redact, names, pace) : found
    const cut = await withinLimits(previewed, names, pace)
    const made = fragmentOf(cut.run, await runOf(receiving, cut.run), gateway.redact)
    notes.push(...cut.notes, ...made.notes)
    lost += made.lost_spans
    const { spans, events, artifacts } = made.fragment
    // without a valid record there is no run to begin
    if (spans.length + events.length + artifacts.length > 0) fragments.push(made.fragment)
  }
  for (const { spans, others, notes: more } of await writeFragments(gateway, fragments)) {
    lost += spans.size
    notes.push(...more)
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

const readData = async (data: Shape, keepsContent: boolean, pace: Pace): Promise<OtlpReading> => {
  try {
    return await fromOtlp(data, { keepsContent: () => keepsContent }, pace)
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    const path = pointerOf(error.place.path)
    throw new GuardError('INVALID_TRACE', `${path}: ${error.message}`, { path, cause: error })
  }
}

const RESOURCE_PROJECT = `resource.${guardNames.project}`
const RESOURCE_SERVICE = `resource.${semconv.service}`

/** The project follows from the name of the service alone, which a run that is there need not bear. */
const guessesProject = ({ project_id }: Receiving, { attributes = {} }: RunDraft): boolean =>
  project_id === undefined &&
  attributes[RESOURCE_PROJECT] === undefined &&
  typeof attributes[RESOURCE_SERVICE] === 'string'

/** The service gives the agent its name where no span does: what spans of another request said is better. */
const withGuessedAgent = (draft: RunDraft): FragmentRun => {
  const { agent_name, ...run } = draft
  const isService = typeof agent_name === 'string' && agent_name === run.attributes?.[RESOURCE_SERVICE]
  return isService ? { ...run, default_agent_name: agent_name } : draft
}

const runOf = async (receiving: Receiving, { run: draft, names }: OtlpRun): Promise<FragmentRun> => {
  const { gateway } = receiving
  const { project_id: declared, ...about } = withGuessedAgent(draft)
  const project = receiving.project_id ?? declared
  const member = guessesProject(receiving, draft) ? 'default_project_id' : 'project_id'
  const run = project === undefined ? about : { ...about, [member]: project }
  const { session_id: named = run.session_id } = names
  if (typeof named !== 'string' || !isSessionName(named)) return run
  return { ...run, session_id: await namedSession(gateway.storage, project ?? 'default', named) }
}
