import { type Gateway, GuardError, type Plugin, Registry, type Rule } from 'guard-gateway/core'

/** One part of a conversation, independent of dialects. */
export type ScriptedText =
  | { readonly system: string }
  | { readonly user: string }
  | { readonly assistant: string }
  | { readonly call: string; readonly arguments: object; readonly id: string }
  /** What a tool call returned; `of` is the call's id. */
  | { readonly result: string; readonly of: string }

/** A tool call in a scripted reply. */
export interface ScriptedCall {
  readonly call: string
  readonly arguments: object
  readonly id: string
}

/** What the scripted provider answers: reasoning, text, tool calls, or several of them. */
export interface Answer {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  readonly input_tokens: number
  readonly output_tokens: number
  /** What it costs, in millionths of the billing currency; if absent, what the price file says. */
  readonly cost_micro?: number
  /** The client requests a stream and gets one. */
  readonly stream?: boolean
  /** The stream breaks off after this number of events. */
  readonly cut_after?: number
}

/** An error of the scripted provider. */
export interface Failure {
  readonly status: number
  readonly error_type: string
  readonly message: string
}

/** What must come of a step. What is left out may be anything, but `reason` must be absent and the answer whole. */
export interface Outcome {
  /** As the client reads it off the headers. */
  readonly decision?: 'allow' | 'shadow_flag' | 'block'
  readonly reason?: string
  /** HTTP status of the answer. */
  readonly status?: number
  /** How the exchange ended on record, for example `ok` or `truncated`; of an MCP call, what its client got: `ok`, `tool_error`, `rpc_error`. */
  readonly outcome?: string
  /** What the MCP policy said of a call, as the audit has it. */
  readonly action?: string
  /** The call went to the MCP server. */
  readonly forwarded?: boolean
  /** Tokens put on record. */
  readonly total_tokens?: number
  /** Text that the client finds in the answer. */
  readonly sees?: string
  /** Text that is not in it. */
  readonly lacks?: string
  /** The answer breaks off before its end; false if absent. */
  readonly broken?: boolean
}

/** What must come of a step in each mode. */
export interface Expect {
  readonly shadow: Outcome
  readonly enforce: Outcome
}

/** A model request, with the reply it gets if it is forwarded. */
export interface RequestStep {
  readonly what: string
  readonly do: 'request'
  readonly say: readonly ScriptedText[]
  readonly reply: Answer | Failure
  /** Id of the API style; if absent, the one that the run is in. */
  readonly style?: string
  readonly expect: Expect
}

/** A pause or resume through the administration API. */
export interface PauseStep {
  readonly what: string
  readonly do: 'pause' | 'resume'
  readonly target: 'session' | 'agent'
  readonly expect: Expect
}

/** A call of a tool through the MCP proxy. */
export interface CallStep {
  readonly what: string
  readonly do: 'call'
  readonly tool: string
  readonly arguments: object
  readonly expect: Expect
}

/** The client requests the list of tools. */
export interface ListStep {
  readonly what: string
  readonly do: 'list'
  readonly expect: Expect
}

/** A person decides the question that was asked last; where none waits, the outcome is `none`. */
export interface ApproveStep {
  readonly what: string
  readonly do: 'approve'
  readonly action: 'allow' | 'deny'
  readonly scope: 'once' | 'session'
  readonly expect: Expect
}

export type ModelStep = RequestStep | PauseStep
export type McpStep = CallStep | ListStep | ApproveStep
export type Step = ModelStep | McpStep

interface Story {
  /** Words of a-z and 0-9, joined by `-`. */
  readonly id: string
  readonly title: string
  /** One sentence: what it shows. */
  readonly summary: string
}

/** Requests of a client and what the guard's rules make of them. */
export interface ModelScenario extends Story {
  readonly kind: 'model'
  /** Rules of the scenario's project; if absent, the six that a new project has. */
  readonly rules?: readonly Rule[]
  readonly steps: readonly ModelStep[]
}

/** Calls of tools in one session of the MCP proxy, in front of the test server. */
export interface McpScenario extends Story {
  readonly kind: 'mcp'
  /** The policy as in its file, without `mode`: that is the run's. */
  readonly policy: Readonly<Record<string, unknown>>
  readonly steps: readonly McpStep[]
}

/** A short story whose end is known beforehand. */
export type Scenario = ModelScenario | McpScenario

declare module 'guard-gateway/core' {
  interface Services {
    scenarios: Registry<Scenario>
  }
}

/** The scenarios of a gateway, in the order in which they were added; a plugin that adds one may come before the Playground. */
export const scenariosOf = (gateway: Gateway): Registry<Scenario> =>
  gateway.service('scenarios').getOrProvide(() => new Registry<Scenario>('scenario'))

const ID = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Makes a scenario a plugin that adds itself to the Playground; it may come before or after it. Throws INVALID_CONFIG. */
export const scenario = <S extends Scenario>(entry: S): S & Plugin => {
  if (!ID.test(entry.id)) {
    throw new GuardError(
      'INVALID_CONFIG',
      `"${entry.id}" cannot name a scenario: use up to 64 of a-z and 0-9, words joined by "-".`,
    )
  }
  if (entry.steps.length === 0) throw new GuardError('INVALID_CONFIG', `Scenario "${entry.id}" has no steps.`)
  return { ...entry, name: `scenario/${entry.id}`, apply: (gateway) => scenariosOf(gateway).add(entry) }
}

/** Every request of the scenario has its own style, or there is none, so that a run has no style to choose. */
export const isBound = ({ steps }: Scenario): boolean =>
  steps.every((step) => step.do !== 'request' || step.style !== undefined)
