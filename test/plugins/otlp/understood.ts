import type { TreeSpan } from '#lib/trace'
import type { Receiver } from './kit.ts'

/** What Replay makes of a recording, in the words of the files beside the recordings. */
export interface Understood {
  readonly name: string | null
  readonly project: string
  readonly session: string | null
  readonly agent: string | null
  readonly status: string
  readonly tags: readonly string[]
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_micro: number
  /** Model calls in the order of their starts. */
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  readonly tools: readonly string[]
  /** Failed spans and what is kept of why. */
  readonly errors: readonly string[]
  readonly warnings: readonly unknown[]
}

const COUNTS: readonly (readonly [string, string])[] = [
  ['input', 'gen_ai.usage.input_tokens'],
  ['output', 'gen_ai.usage.output_tokens'],
  ['cached', 'gen_ai.usage.cache_read.input_tokens'],
  ['cache_write', 'gen_ai.usage.cache_creation.input_tokens'],
  ['cache_write_1h', 'guard.usage.cache_creation_1h.input_tokens'],
  ['reasoning', 'gen_ai.usage.reasoning.output_tokens'],
  ['told_micro', 'guard.cost_told_micro'],
]

const callOf = ({ attributes }: TreeSpan): Readonly<Record<string, unknown>> => ({
  model: attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'] ?? null,
  ...Object.fromEntries(
    COUNTS.flatMap(([short, name]) => (attributes[name] === undefined ? [] : [[short, attributes[name]]])),
  ),
})

/** What is understood of all runs, the first to begin first. */
export const understood = async (receiver: Receiver): Promise<readonly Understood[]> => {
  const runs = await Promise.all((await receiver.runIds()).map((id) => receiver.run(id)))
  return runs
    .toSorted((a, b) => compare([a.run.start_ns, a.run.trace_id], [b.run.start_ns, b.run.trace_id]))
    .map(({ run, spans }) => {
      const inOrder = spans.toSorted((a, b) => compare([a.start_ns, a.id], [b.start_ns, b.id]))
      const failed = inOrder.filter(
        ({ status, kind, parent_id }) => status === 'error' && (parent_id !== null || kind !== 'agent'),
      )
      return {
        name: run.name,
        project: run.project_id,
        session: run.session_id,
        agent: run.agent_name,
        status: run.status,
        tags: run.tags,
        input_tokens: Number(run.input_tokens),
        output_tokens: Number(run.output_tokens),
        cost_micro: Number(run.cost_micro),
        calls: inOrder.filter(({ kind }) => kind === 'model').map(callOf),
        tools: inOrder.filter(({ kind }) => kind === 'tool').map(({ label }) => String(label)),
        errors: failed.map(({ name, status_message }) => `${name}: ${status_message}`),
        warnings: inOrder.flatMap(({ attributes }) => attributes['guard.usage_warning'] ?? []),
      }
    })
}

const compare = (a: readonly [unknown, string], b: readonly [unknown, string]): number => {
  const [one, other] = [BigInt(String(a[0])), BigInt(String(b[0]))]
  return one === other ? a[1].localeCompare(b[1]) : one < other ? -1 : 1
}
