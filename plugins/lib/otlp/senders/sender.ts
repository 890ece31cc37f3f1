import type { SpanKind } from 'guard-gateway/core'

/** Facts of a span that senders call by names of their own. */
export type SpanField =
  | 'model'
  | 'response_model'
  | 'tool'
  | 'tool_call'
  | 'span_title'
  | 'status_message'
  | 'error_type'
  | 'finish_reasons'

/** Facts of the run that a span belongs to. */
export type RunField = 'project' | 'session' | 'agent_id' | 'agent' | 'run_name' | 'tags'

/** Token counts. `uncached`: input without the cached part. `total`: input and output. */
export type UsageField =
  | 'input'
  | 'uncached'
  | 'output'
  | 'cache_read'
  | 'cache_write'
  | 'cache_write_5m'
  | 'cache_write_1h'
  | 'reasoning'
  | 'total'

/** Amounts of money. `cost_other`: a part that is neither input nor output. */
export type CostField = 'cost' | 'cost_input' | 'cost_output' | 'cost_other'

export type Field = SpanField | RunField | UsageField | CostField

/** What one sender, or one convention, calls things. Spellings that no table has are read by their words. */
export interface Sender {
  /** Name as in the documentation. */
  readonly name: string
  /** Where the names come from: a recording with versions, or the published document. */
  readonly source: string
  /** Scope names of its spans. */
  readonly scopes?: RegExp
  /** True: its names are everyday words, which mean this only on spans of its scopes. */
  readonly scoped?: true
  /** A prefix that only its attributes have. */
  readonly prefix?: string
  /** Attribute names of each fact, the best first. */
  readonly names?: Readonly<Partial<Record<Field, readonly string[]>>>
  /** Attributes that hold an object or JSON text with usage or cost in it, whatever their names say. */
  readonly holders?: readonly string[]
  /** Attributes whose values tell the kind of a span. Null: a wrapper, which is a call only if it has usage. */
  readonly kinds?: Readonly<Record<string, Readonly<Record<string, SpanKind | null>>>>
  /** Attributes whose values tell that a span failed. */
  readonly failures?: Readonly<Record<string, readonly (string | boolean)[]>>
  /** Names of spans that tell their kind, where no attribute does. */
  readonly span_kinds?: Readonly<Record<string, SpanKind | null>>
  /** The title of a model call is its model. */
  readonly title_is_model?: true
  /** Its calls name no model, a span around or before them does; a model alone makes no call. */
  readonly model_elsewhere?: true
  /** Its spans with an exception have failed, though their status says ok. */
  readonly exceptions_fail?: true
  /** Whether input counts hold the cached part; default true. Counts that cannot be so overrule it. */
  readonly input_holds_cached?: boolean
  /** Whether output counts hold the reasoning part; default true. */
  readonly output_holds_reasoning?: boolean
  /** False: its total leaves cached tokens out, so it tells nothing about them. */
  readonly total_is_complete?: boolean
}
