import type { ResultFrame } from './result-frame.ts'

/** Beginnings of the texts that clients write for a tool that they did not run, or that failed. All are from recordings. */
const beginnings = [
  // Codex 0.169
  'apply_patch verification failed',
  'write_stdin failed',
  'failed to parse function arguments',
  'unsupported call: ',
  'unable to locate ',
  // OpenCode 1.18, Kilo 7.7
  'Could not find oldString',
  'No changes to apply',
  'File not found: ',
  'The \\w{1,64} tool was called with invalid arguments',
  'The arguments provided to the tool are invalid',
  'Model tried to call unavailable tool',
  'Invalid input for tool ',
  'ripgrep execution failed',
  // pi 0.73
  'Could not find the exact text',
  'No changes made',
  'Validation failed for tool',
  'E(?:NOENT|ACCES|ISDIR|NOTDIR|EXIST|PERM): ',
  // Qwen Code 0.24, Gemini CLI
  'Failed to edit',
  'params must have ',
  'Tool "[^"\\n]{1,128}" not found',
  'Command timed out after ',
  // Copilot CLI 1.0
  'No match found: ',
  'Path [^\\t-\\r ]{1,1024} (?:does not exist|already exists)',
  'Invalid input: ',
  "Tool '[^'\\n]{1,128}' does not exist",
  'The arguments for the tool call ',
  'shellId: [^\\t-\\r ]{1,128} not found',
  // mini-swe-agent 1
  '<exception>',
  // Continue 1.5
  'Error executing tool ',
  'Edit at index \\d{1,6}: ',
  'old_string and new_string must be different',
  'Required parameter "',
  // pi, Continue
  'Tool [^\\t-\\r ]{1,128} not found',
  // Node programs: what child_process says
  '(?:Error: )?Command failed\\b',
  // MCP servers of the official SDKs
  'MCP error -?\\d{1,6}',
  '(?:Input|Output) validation error',
  'Error calling tool ',
]

const refused = new RegExp(`^[\\t-\\r ]{0,64}(?:${beginnings.join('|')})`)

/** A text of the client itself that reports a failure. It is recognised by its beginning: no output of a tool starts so. */
export const refusal: ResultFrame = {
  client: 'every client: words of its own for a call that it refused, or that failed',
  read: (text) => (refused.test(text) ? { body: text, failed: true } : undefined),
}
