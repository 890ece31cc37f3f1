import { terminalLine } from '#lib/text'
import type { PartialVerdict, Verdict } from '../judge/verdict.ts'
import type { RecordedFinding } from '../results/recorded-finding.ts'

/** The `result` of a call that was not forwarded. */
export interface ToolError {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: { readonly approval_id: string; readonly action: 'confirm' }
  readonly isError: true
}

/** A call that waits for a person. */
export interface ConfirmationRequest {
  readonly approval_id: string
  readonly server_id: string
  readonly tool: string
  readonly expires_in_seconds: number
  /** The winning opinions; their messages are shown. */
  readonly winners: readonly PartialVerdict[]
}

const toolError = (text: string): ToolError => ({ content: [{ type: 'text', text }], isError: true })

/** The sentence, and after it the rules' own words, each once. */
const withMessages = (text: string, winners: readonly PartialVerdict[]): string =>
  [text, ...new Set(winners.flatMap(({ message }) => message ?? []))].join(' ')

/** The call was not forwarded; a person is asked, and the same call may then be made again. */
export const confirmResult = ({
  approval_id,
  server_id,
  tool,
  expires_in_seconds,
  winners,
}: ConfirmationRequest): ToolError => {
  const what = `${terminalLine(tool)} on "${terminalLine(server_id)}"`
  const text =
    `Approval required (${approval_id}): ${what}. Ask the user to approve it in Guard, then retry the same call ` +
    `unchanged. Expires in ${expires_in_seconds} s.`
  return { ...toolError(withMessages(text, winners)), structuredContent: { approval_id, action: 'confirm' } }
}

/** What a person who says no is quoted with; `reason` is redacted. */
export const deniedText = (approval_id: string, reason: string | null): string => {
  const words = reason === null ? '' : terminalLine(reason).trim()
  if (words === '') return `Denied by the user (${approval_id}). Do not retry.`
  return `Denied by the user (${approval_id}): ${words}${/[.!?…]$/.test(words) ? '' : '.'} Do not retry the same call.`
}

/** A person said no. */
export const deniedByUserResult = (approval_id: string, reason: string | null = null): ToolError =>
  toolError(deniedText(approval_id, reason))

/** The arguments do not fit the tool's schema; `fault` names the place and what is wrong there. */
export const invalidResult = (tool: string, fault: string): ToolError =>
  toolError(`Invalid arguments for '${terminalLine(tool)}': ${fault}. Not forwarded.`)

/** The tool is not what it was when somebody trusted it. */
const pinResult = (tool: string, pin: 'new' | 'changed' | 'server' | undefined): ToolError => {
  if (pin === 'server')
    return toolError('The instructions of the server changed since they were trusted. A person must review them.')
  return toolError(
    pin === 'new'
      ? `The tool '${terminalLine(tool)}' appeared after the others were trusted. A person must review it.`
      : `The definition of '${terminalLine(tool)}' changed since it was trusted. A person must review it.`,
  )
}

const denied = ({ rule_id, reason }: PartialVerdict): string =>
  reason === undefined ? `Denied by rule '${rule_id}'.` : `Denied by rule '${rule_id}': ${reason}.`

const overLimit = ({ rule_id, limit }: PartialVerdict): string =>
  `Rate limit of rule '${rule_id}' reached: ${limit?.text ?? 'no more calls'}. Retry in ${limit?.retry_after_seconds ?? 1} s.`

/** What the client reads of a call that the verdict stops for good, or until a limit has room. `pin` is the state of the tool's definition; `server`: what the server says of itself changed. */
export const refusedResult = (
  tool: string,
  { action, winners }: Verdict,
  pin?: 'new' | 'changed' | 'server',
): ToolError => {
  const ruled = winners.filter(({ rule_id }) => rule_id !== 'pin')
  const [first] = ruled
  if (first === undefined) return pinResult(tool, pin)
  return toolError(withMessages(action === 'rate_limit' ? overLimit(first) : denied(first), ruled))
}

/** Where in a result: names in it come from its server, and are not repeated. */
const placeOf = (pointer: string): string =>
  /^\/content\/\d+|^\/structuredContent|^\/error/.exec(pointer)?.[0] ?? 'the result'

/** A result that the client must not read. What was found in it is said, and not repeated. */
export const withheldResult = (tool: string, findings: readonly RecordedFinding[]): ToolError => {
  const [first] = findings
  const reason = first === undefined ? '' : `: ${placeOf(first.pointer)} ${terminalLine(first.reason)}`
  const more = findings.length > 1 ? `, and ${findings.length - 1} more` : ''
  const by = first === undefined || first.rule_id === 'results' ? 'the policy' : `rule '${first.rule_id}'`
  return toolError(
    `The result of '${terminalLine(tool)}' was withheld by ${by}${reason}${more}. The tool has run; do not retry.`,
  )
}

/** The limit had no room left for a call that a person let through. */
export const limitResult = (opinion: PartialVerdict): ToolError =>
  toolError(withMessages(overLimit(opinion), [opinion]))
