import { type Case, type CaseRequest, type Evidence, inputOf, letters, tokensOf } from './case.ts'
import { hasText, type Step, type StepResult, type Trajectory } from './trajectory.ts'
import { wasteFrom, wasteOf } from './waste.ts'

/** Maximum characters of a result that collections keep as text. */
const MAX_TEXT_CHARS = 400
const MAX_TOKENS = 4096

/** Converts a run to a case: request k follows turn k - 1 and contains all earlier turns. The loop start of a synthetic run is exact. */
export const caseOf = (suite: Case['suite'], trajectory: Trajectory, collection: string | null = null): Case => ({
  id: trajectory.id,
  suite,
  collection,
  source: trajectory.source,
  task: trajectory.task,
  split: trajectory.split,
  kind: trajectory.kind ?? null,
  label: trajectory.label,
  loop_start_step: trajectory.loop_start_step,
  resolved: trajectory.resolved,
  waste: suite === 'corpus' ? wasteOf(trajectory) : wasteFrom(trajectory.loop_start_step),
  tokens_estimated: trajectory.tokens === undefined,
  evidence: new Set<Evidence>(hasText(trajectory) ? ['turns', 'result text'] : ['turns']),
  turns: trajectory.steps,
  tokens: () => requestTokens(trajectory),
  requests: () => requestsOf(trajectory),
})

function* requestsOf(trajectory: Trajectory): Iterable<CaseRequest> {
  const tokens = requestTokens(trajectory)
  let body = opening(trajectory)
  for (const [number, step] of trajectory.steps.entries()) {
    yield { body: Buffer.from(`${body}]}`), tokens: tokens[number] ?? 0 }
    body += messagesOf(step, number)
  }
}

/** Recorded tokens, else an estimate that assumes the whole history in each request. */
const requestTokens = ({ system_chars, task_chars, tokens, steps }: Trajectory): number[] => {
  let chars = system_chars + task_chars
  return steps.map((step, number) => {
    const replied = repliedChars(step)
    const estimated = tokensOf(chars + replied)
    chars += replied + step.results.reduce((sum, result) => sum + result.chars, 0) + (step.user_chars ?? 0)
    return tokens?.[number] ?? estimated
  })
}

const opening = ({ id, model, task }: Trajectory): string => {
  const system = JSON.stringify(`You work on ${task} with the tools you have.`)
  const user = JSON.stringify({ role: 'user', content: `Please do this: ${task} (${id})` })
  return `{"model":${JSON.stringify(model || 'unknown')},"max_tokens":${MAX_TOKENS},"system":${system},"messages":[${user}`
}

const repliedChars = ({ calls, args_chars, text, text_chars }: Step): number =>
  (text_chars ?? text?.length ?? 0) +
  (args_chars ?? calls.reduce((sum, call) => sum + JSON.stringify(inputOf(call)).length, 0))

/** The messages of a turn: the assistant's message, its results and the user's next message. */
const messagesOf = (step: Step, number: number): string => {
  const said = step.text === undefined ? [] : [{ type: 'text', text: step.text }]
  const calls = step.calls.map((call, place) => ({
    type: 'tool_use',
    id: idOf(number, place),
    name: call[0],
    input: inputOf(call),
  }))
  const content = said.length + calls.length === 0 ? [{ type: 'text', text: '(nothing)' }] : [...said, ...calls]
  const messages: object[] = [{ role: 'assistant', content }]
  if (step.results.length > 0) {
    messages.push({ role: 'user', content: step.results.map((result, place) => resultBlock(result, number, place)) })
  }
  if (step.user !== undefined) messages.push({ role: 'user', content: step.user })
  return messages.map((message) => `,${JSON.stringify(message)}`).join('')
}

const idOf = (number: number, place: number): string => `toolu_${number}_${place}`

const resultBlock = (result: StepResult, number: number, place: number): object => ({
  type: 'tool_result',
  tool_use_id: idOf(number, place),
  content: contentOf(result),
  ...(result.error ? { is_error: true } : {}),
})

/** A hash replaces unknown text of a result, so that equal originals give equal results. */
const contentOf = ({ text, hash, masked_hash, chars, error, empty }: StepResult): string => {
  if (empty) return ''
  const rest = letters((error ? masked_hash : undefined) ?? hash ?? '')
  if (text === undefined) return rest
  return chars > MAX_TEXT_CHARS && chars > text.length && rest !== '' ? `${text}\n${rest}` : text
}
