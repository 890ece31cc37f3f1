import { type FailureTag, failureTags, type Gateway, GuardError } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import { everyProject, visibleProjects } from '#lib/principal'
import { sanitise } from '#lib/text'
import { traceFileErrors } from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import { runById } from '../read/run.ts'
import type { RunRow } from '../tables.ts'
import { nowNs } from '../time.ts'
import { runChange } from '../write/run-change.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { checkTags } from './ingest.ts'

/** Editable fields of a run. */
export interface Edit {
  readonly name?: string | null
  readonly tags?: readonly string[]
  /** Null: derive it again. */
  readonly failure_tag?: FailureTag | null
  readonly pinned?: boolean
}

const FIELDS = ['name', 'tags', 'failure_tag', 'pinned'] as const
const NAME_CHARS = 256
const ATTEMPTS = 5

const invalid = (path: string, message: string): GuardError => new GuardError('INVALID_TRACE', message, { path })

/** Parses an edit. Throws INVALID_TRACE, INVALID_FAILURE_TAG with a pointer. */
export const readEdit = (body: unknown): Edit => {
  if (!isJsonObject(body) || Array.isArray(body)) throw invalid('', 'The body must be a JSON object.')
  const odd = Object.keys(body).find((key) => !FIELDS.some((known) => known === key))
  if (odd !== undefined) throw invalid(`/${odd}`, `"${odd}" cannot be changed; ${FIELDS.join(', ')} can.`)
  return { ...nameIn(body), ...tagsIn(body), ...failureTagIn(body), ...pinnedIn(body) }
}

const nameIn = ({ name }: JsonObject): Edit => {
  if (name === undefined) return {}
  if (name === null || (typeof name === 'string' && name.length <= NAME_CHARS)) return { name }
  throw invalid('/name', `"name" must be a text of at most ${NAME_CHARS} characters, or null.`)
}

const tagsIn = ({ tags }: JsonObject): Edit => {
  if (tags === undefined) return {}
  if (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')) return { tags: checkTags(tags, '/tags') }
  throw invalid('/tags', '"tags" must be a list of texts.')
}

const failureTagIn = ({ failure_tag }: JsonObject): Edit => {
  if (failure_tag === undefined) return {}
  if (failure_tag === null) return { failure_tag }
  const tag = failureTags.find((known) => known === failure_tag)
  if (tag !== undefined) return { failure_tag: tag }
  throw new GuardError(
    traceFileErrors.INVALID_FAILURE_TAG,
    `"failure_tag" must be ${failureTags.join(', ')} or null.`,
    {
      path: '/failure_tag',
      known: failureTags,
    },
  )
}

/** Pin state of a body. Throws INVALID_TRACE. */
const pinnedIn = ({ pinned }: JsonObject): { pinned?: boolean } => {
  if (pinned === undefined) return {}
  if (typeof pinned === 'boolean') return { pinned }
  throw invalid('/pinned', '"pinned" must be true or false.')
}

/** Parses a pin request; an absent body pins. Throws INVALID_TRACE with a pointer, so that an invalid request does not pin. */
export const readPin = (body: unknown): boolean => {
  if (body === undefined || body === null) return true
  if (!isJsonObject(body)) throw invalid('', 'Send an object with "pinned", or nothing.')
  const odd = Object.keys(body).find((key) => key !== 'pinned')
  if (odd !== undefined) throw invalid(`/${odd}`, `"${odd}" means nothing here; only pinned does.`)
  return pinnedIn(body).pinned ?? true
}

/** Edits a run; durable when it resolves. Throws RUN_NOT_FOUND, STORAGE_BUSY. */
export const editRun = async (
  gateway: Gateway,
  runWriter: RunWriter,
  trace_id: string,
  edit: Edit,
): Promise<RunRow> => {
  // an open run is in memory, whoever may see it
  if (visibleProjects() !== null) await runById(gateway.storage, trace_id)
  const edited = async (): Promise<RunRow> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await attempted(gateway, runWriter, trace_id, edit)
      if (row !== undefined) return row
    }
    throw new GuardError('STORAGE_BUSY')
  }
  const row = await everyProject(() => runWriter.exclusively([trace_id], edited))
  const { project_id } = row
  await gateway
    .service('audit')
    .get()
    ?.note({ action: 'run.edited', subject: trace_id, project_id, details: { ...edit } })
  return row
}

/** Undefined: the run has changed in the meantime. */
const attempted = async (
  gateway: Gateway,
  runWriter: RunWriter,
  trace_id: string,
  edit: Edit,
): Promise<RunRow | undefined> => {
  await runWriter.deferred.write(trace_id)
  const run = await runWriter.runs.get(trace_id)
  if (run?.stored !== true) throw new GuardError(replayErrors.RUN_NOT_FOUND, `There is no run "${trace_id}".`)
  const row = edited(run.row, edit, gateway)
  if (same(run.row, row)) return run.row
  const changesWords = edit.name !== undefined || edit.tags !== undefined
  run.describe(row, changesWords)
  const change = runChange(run, changesWords, nowNs(gateway.clock))
  const { row: changed } = run
  if (await gateway.storage.write([{ ...change, sync: true }])) {
    runWriter.written(changed)
    return changed
  }
  runWriter.runs.drop(trace_id)
  return undefined
}

const edited = (row: RunRow, edit: Edit, { redact }: Gateway): RunRow => {
  const { failure_tag, ...given } = row.given
  const tag = edit.failure_tag === undefined ? failure_tag : (edit.failure_tag ?? undefined)
  return {
    ...row,
    name: edit.name === undefined ? row.name : edit.name === null ? null : redact.text(sanitise(edit.name)),
    tags: edit.tags === undefined ? row.tags : [...new Set(edit.tags.map((one) => redact.text(sanitise(one))))],
    pinned: edit.pinned ?? row.pinned,
    given: tag === undefined ? given : { ...given, failure_tag: tag },
  }
}

const same = (a: RunRow, b: RunRow): boolean =>
  a.name === b.name &&
  a.pinned === b.pinned &&
  a.tags.join('\0') === b.tags.join('\0') &&
  a.given.failure_tag === b.given.failure_tag
