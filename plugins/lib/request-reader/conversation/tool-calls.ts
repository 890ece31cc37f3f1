import type { ToolCall } from 'guard-gateway/core'
import { shortSha256 } from 'guard-gateway/lib/ids'
import { holdsRounded, readJson } from 'guard-gateway/lib/json'
import { effectOf } from 'guard-gateway/lib/tools'
import { unframed } from '../results/frames.ts'
import { isPending } from '../results/pending.ts'
import { contentHash } from './content-hash.ts'
import { canonical, field, inArguments, REMINDER, withoutReminders } from './fingerprint.ts'
import { arePlainArguments } from './plain-arguments.ts'
import type { Wording } from './string-encoding.ts'

/** Deeper argument text is compared as text. */
const DEPTH_LIMIT = 128

/** Hash of a tool's name and its arguments as `argumentText` gives them: equal keys are the same call, whatever its id. */
export const callKey = (tool: string, args: string): string => shortSha256(`${field(tool)}\0${args}`)

/** Arguments in one spelling: JSON text and the value it stands for are equal, and so are none, null, `""` and `{}`. Integers keep every digit. */
export const argumentText = (args: unknown): string => {
  if (typeof args !== 'string') return args === undefined || args === null ? '{}' : canonical(args, inArguments)
  const text = args.trim()
  if (text === '') return '{}'
  if (arePlainArguments(text)) return text
  if (text[0] !== '{' && text[0] !== '[') return text
  if (deep(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return canonical(holdsRounded(value) ? readJson(text) : value, inArguments)
  } catch {
    return text
  }
}

/** What rules know of a call without its result. */
export const calledTool = (tool: string, args: unknown): Pick<ToolCall, 'tool' | 'key' | 'effect'> => {
  const text = argumentText(args)
  return { tool, key: callKey(tool, text), effect: effectOf(tool, text) }
}

/** Whether brackets nest too deep to parse; brackets inside strings count too, which errs on the side of plain text. */
const deep = (text: string): boolean => {
  if (text.length <= DEPTH_LIMIT) return false
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index) | 0x20
    if (unit === 0x7b && ++depth > DEPTH_LIMIT) return true
    if (unit === 0x7d) depth--
  }
  return false
}

/** What a tool result is to the rules. */
export interface ResultPrint {
  /** Null for an empty result, which is no evidence. */
  readonly result: string | null
  readonly error: boolean
  /** It is said that the tool did not fail, or it says so little that nothing is wrong. */
  readonly passed: boolean
  /** It says that something is still under way. */
  readonly pending: boolean
  /** Length of the text in UTF-8. */
  readonly bytes: number
}

/** Bytes below which an answer that nothing calls a failure is a good one: checks that pass say little. */
const SHORT = 200

/** Hash and flags of a result's text, told by a string; `flagged` is what the dialect itself says, null if nothing. */
export const resultPrint = (string: string, blocks: string, flagged: boolean | null, wording: Wording): ResultPrint => {
  const known = blocks === '' && flagged !== true ? wording.known(string) : undefined
  if (known !== undefined) return printOfKnown(known, flagged)
  const { encoding } = wording
  const text = wording.spelled(string)
  const plain = withoutReminders(text)
  const framed = unframed(plain)
  const failed = framed.failed ?? (flagged === null && failedByText(plain) ? true : null)
  const error = flagged === true || failed === true
  const counted = error ? masked(withoutRunLines(plain)) : withoutRunLines(framed.body)
  const { hash = null, bytes } = contentHash(counted, blocks, encoding)
  return {
    result: hash,
    error,
    passed: !error && (flagged === false || failed === false || Buffer.byteLength(text, encoding) < SHORT),
    pending: !error && isPending(plain),
    bytes: counted === text ? bytes : Buffer.byteLength(text, encoding),
  }
}

const printOfKnown = (
  { hash, bytes }: { readonly hash: string; readonly bytes: number },
  flagged: boolean | null,
): ResultPrint => ({
  result: hash,
  error: false,
  passed: flagged === false || bytes < SHORT,
  pending: false,
  bytes,
})

/** A result's text as rules compare it: without reminders, lines about the run and the client's frame. */
export const plainResult = (text: string): string => withoutRunLines(unframed(withoutReminders(text)).body)

const CHUNK = 'Chunk ID: '
const TIME = 'Wall time: '
const EXIT = 'xit'
const LOUD_EXIT = 'XIT'

/** A text that opens no frame and holds none of these words is no error, and nothing is left out of it. */
export const tellingWords = [REMINDER, CHUNK, TIME, EXIT, LOUD_EXIT] as const

/** Codex heads each command result with lines that differ every time. */
const withoutRunLines = (text: string): string =>
  text.includes(CHUNK) || text.includes(TIME)
    ? text.replace(/(?<![^\n\r])(?:Chunk ID|Wall time): [^\n\r]*(?:\n|(?=\r)|$)/g, '')
    : text

const masked = (text: string): string => text.replace(/0x[0-9a-f]+|\d+/gi, '#')

const exitLine = /\b(?:exit code:?|exited with code|non-zero exit status)[ \t]*(-?\d{1,10})/i

/** By an exit code or a structured flag, never by words such as "exception". */
const failedByText = (text: string): boolean => {
  if (jsonStart.test(text) && failedByJson(text)) return true
  const exit = text.includes(EXIT) || text.includes(LOUD_EXIT) ? exitLine.exec(text) : null
  return exit !== null && Number(exit[1]) !== 0
}

const jsonStart = /^\s{0,64}[[{]/

const hint = /"(?:isError|success|exit_?[cC]ode|returncode)"/

const failedByJson = (text: string): boolean => {
  if (!hint.test(text) || deep(text)) return false
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).some(failedRecord)
  } catch {
    return false
  }
}

const failedRecord = (value: unknown): boolean => {
  if (value === null || typeof value !== 'object') return false
  const record = value as Readonly<Record<string, unknown>>
  if (record.isError === true || record.success === false) return true
  return ['exit_code', 'exitCode', 'returncode'].some((name) => typeof record[name] === 'number' && record[name] !== 0)
}
