import type { Origin, Owner } from 'guard-gateway/core'
import type { Run, TraceSpan as Span } from './run.ts'

/** The root of a run that was recorded without one. */
export const defaultRootSpan = (run: Run & { readonly root_span_id: string }): Span => ({
  id: run.root_span_id,
  parent_id: null,
  name: 'agent.run',
  kind: 'agent',
  label: null,
  status: run.status,
  status_message: null,
  start_ns: run.start_ns,
  end_ns: run.end_ns,
  owner: OWNERS[run.origin] ?? 'client',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: {},
})

const OWNERS: Readonly<Partial<Record<Origin, Owner>>> = { gateway: 'gateway', playground: 'gateway', mcp: 'mcp' }

/** A root that somebody gave, which covers everything below it. */
export const enclosingRootSpan = <S extends Span>(
  root: S,
  { start_ns, end_ns }: Pick<Run, 'start_ns' | 'end_ns'>,
): S => ({
  ...root,
  parent_id: null,
  start_ns,
  end_ns,
})
