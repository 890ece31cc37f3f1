import type { Action } from '../judge/verdict.ts'

export const auditKinds = ['decision', 'refusal', 'policy', 'pin', 'approval', 'session', 'request'] as const
/** What a record is about. */
export type AuditKind = (typeof auditKinds)[number]

export const judgedActions = [
  'allow',
  'shadow_deny',
  'transform',
  'confirm',
  'rate_limit',
  'deny',
  'invalid',
  'refused',
] as const
/** What the policy said of a call; `invalid`: its arguments do not meet the tool's schema; `refused`: the frame itself cannot be used, or its session or agent is paused. */
export type JudgedAction = (typeof judgedActions)[number] & (Action | 'invalid' | 'refused')

export const outcomes = ['ok', 'tool_error', 'rpc_error', 'cancelled', 'timeout', 'lost', 'none'] as const
/** How a call ended; `none`: it was not forwarded; `lost`: the server went away without an answer. */
export type Outcome = (typeof outcomes)[number]

export const schemaStates = ['ok', 'skipped', 'partial', 'unsupported', 'failed'] as const
/** What came of validating the arguments. */
export type SchemaState = (typeof schemaStates)[number]

export const pinStates = ['known', 'new', 'changed', 'off'] as const
/** How the tool's definition compares with the one that was trusted. */
export type PinState = (typeof pinStates)[number]

export const reasonCodes = [
  'MCP_DENIED',
  'MCP_RATE_LIMIT',
  'MCP_CONFIRM',
  'MCP_INVALID_ARGUMENTS',
  'MCP_PIN_CHANGED',
  'PAUSED_SESSION',
  'PAUSED_AGENT',
] as const
/** Why a call was not simply forwarded. */
export type ReasonCode = (typeof reasonCodes)[number]
