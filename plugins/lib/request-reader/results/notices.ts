/**
 * Texts that a client writes in the place of a result, the same for every call: it took too long, a person or a rule refused it, it was
 * cancelled. That two calls got the same one does not make their errors equal.
 */
const notices = [
  // a limit of time: Claude Code 2.1, Qwen Code 0.24, Codex 0.169, pi 0.73, MCP clients of the official SDKs
  '(?:the )?(?:command|request|operation|tool(?: call| execution)?|execution|process|script) (?:has )?timed[ -]out\\b',
  'time ?out(?: error)?\\b',
  '(?:MCP error -?\\d{1,6}: )?request timed out',
  // refused by a person: Claude Code, OpenCode 1.18, Cline 3.0, Copilot CLI 1.0, Codex
  "the user (?:doesn['’]t want to|does not want to|rejected|denied|declined|cancelled|canceled|aborted|has (?:rejected|denied|declined))",
  '(?:the )?(?:command|tool(?: use| call| execution)?|operation|request|call|exec command|patch|edit) (?:was |has been )?(?:rejected|denied|declined|refused|cancelled|canceled|aborted|interrupted)\\b',
  '(?:rejected|denied|declined|cancelled|canceled|aborted|interrupted) by (?:the )?user',
  'user (?:rejected|denied|declined|cancelled|canceled|aborted|refused)\\b',
  'request interrupted by user',
  'operation cancelled',
  // refused by a rule: Claude Code, Copilot CLI
  'permission (?:to use [\\w.-]{1,128} (?:has been |was )?)?denied(?: by|,| and could not|\\.?$)',
  "claude requested permissions? to [^\\n]{1,300} but you haven['’]t granted it yet",
  'this command requires approval',
  // another call of the same turn failed: Claude Code
  '(?:cancelled: parallel|sibling) tool call',
].join('|')

const NOTICE_CHARS = 600

const begin = /^(?:[\t-\r ]|<tool_use_error>|\[|Error: |error: |Tool execution (?:failed|error): ){0,8}/

const notice = new RegExp(`^(?:${notices})`, 'i')

/** Whether a text is such a notice, and nothing else: what a command said before it ended makes it another. */
export const isNotice = (text: string): boolean => {
  if (text.length > NOTICE_CHARS) return false
  const output = text.replace(begin, '')
  return notice.test(output) && !output.trimEnd().includes('\n\n')
}

/** A longer result is more than a report of progress. */
const CHARS = 2048

const pendingPhrases =
  'running|pending|queued|in[ _-]?progress|starting|waiting|building|processing|scheduled|provisioning|deploying|not[ _-]?started|not[ _-]?ready|incomplete'

const pending = new RegExp(
  `(?:state|status|phase|conclusion)[\\\\"'>\\t-\\r :=]{1,8}(?:${pendingPhrases})\\b|\\b(?:still running|still in progress|not (?:yet )?(?:finished|completed|ready)|Process running with session ID)\\b`,
  'i',
)

/** Whether a result says that something is still running: a repeated call is then waiting, not a loop. */
export const isPending = (text: string): boolean => text.length <= CHARS && pending.test(text)
