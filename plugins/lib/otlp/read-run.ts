import type { Attributes, RunDraft } from 'guard-gateway/core'
import { runDraft } from '#lib/trace-file'
import { guardNames, RESOURCE, RUN_ATTRIBUTE, semconv } from './names.ts'
import { type RunNames, textFrom } from './reading/run-clues.ts'
import type { OtlpSpan } from './span-record.ts'

const NO_ID = /[^A-Za-z0-9._:@/+=-]/g

/** A text from outside as an id: what ids cannot hold becomes `_`, at most 128 characters. */
const idFrom = (name: unknown): string | undefined => textFrom(name)?.replace(NO_ID, '_').slice(0, 128)

const withoutPrefix = (attributes: Attributes, prefix: string): Attributes => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith(prefix)) own[key.slice(prefix.length)] = value
  }
  return own
}

const withPrefix = (attributes: Attributes, prefix: string): Attributes => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) own[prefix + key] = value
  return own
}

/** The run that the root span of our own export describes. Throws ImportFault. */
export const ownRun = ({ attributes, place }: Pick<OtlpSpan, 'attributes' | 'place'>, resource: Attributes): RunDraft =>
  runDraft(
    {
      trace_id: attributes[guardNames.traceId],
      project_id: idFrom(resource[guardNames.project]),
      session_id: attributes[semconv.session] ?? null,
      agent_id: attributes[semconv.agentId] ?? null,
      task_id: attributes[guardNames.task] ?? null,
      agent_name: attributes[semconv.agentName] ?? null,
      name: attributes[guardNames.runName] ?? null,
      status: attributes[guardNames.runStatus],
      failure_tag: attributes[guardNames.failureTag],
      failure_tag_source: attributes[guardNames.failureTagSource],
      tags: attributes[guardNames.tags],
      attributes: withoutPrefix(attributes, RUN_ATTRIBUTE),
    },
    place,
  )

/** The run that spans of other programs belong to. */
export const foreignRun = (traceId: string, names: RunNames, resource: Attributes): RunDraft => {
  const { agent_name, name, tags } = names
  const project_id = idFrom(names.project_id)
  const session_id = idFrom(names.session_id)
  const agent_id = idFrom(names.agent_id)
  return {
    trace_id: traceId,
    ...(project_id === undefined ? {} : { project_id }),
    ...(session_id === undefined ? {} : { session_id }),
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(agent_name === undefined ? {} : { agent_name }),
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
    attributes: withPrefix(resource, RESOURCE),
  }
}
