import { inspect } from 'node:util'
import { closest, distance } from 'fastest-levenshtein'
import { type Detector, errorCodes, type Gateway, GuardError } from 'guard-gateway/core'
import { isJsonObject, pointerPart, readJson } from '#lib/json'

/** What to do after a block: wait if the budget comes back, else as the detector says, else what helps with its kind. */
export const recoveryHint = ({ help, kind }: Pick<Detector, 'help' | 'kind'>, comesBack = false): string =>
  comesBack ? 'Wait until then, or raise the threshold of the rule.' : (help ?? byKind[kind])

const byKind: Readonly<Record<Detector['kind'], string>> = {
  loop: 'Send a new instruction, or resume the session.',
  outcome: 'Resume the session when its cause is gone.',
  budget: 'Raise the threshold of the rule, or begin a new session.',
}

interface ObjectSchema {
  readonly properties: object
}

/** As `rejectUnknown`, for the parameters of a schema. */
export const rejectUnknownFilters = (query: object, { properties }: ObjectSchema): void =>
  rejectUnknown(query, Object.keys(properties))

/** Refuses an unknown query parameter: ignoring it would answer another question. Throws UNKNOWN_FILTER. */
export const rejectUnknown = (query: object, known: readonly string[]): void => {
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd === undefined) return
  const message = `There is no parameter "${odd}"; there is ${known.join(', ') || 'none'}.`
  throw new GuardError('UNKNOWN_FILTER', message, { known })
}

/** A database that this gateway must not or cannot use. Every storage backend raises them; the store registers them. */
export const databaseErrors = errorCodes(500, 'configuration_error', {
  DATABASE_DAMAGED: [
    'The database file is damaged or not a database',
    'Restore a backup, or name another file in storage.file; the file was not touched.',
  ],
  DATABASE_NEWER: ['A newer version wrote the database', 'Install that version, or name another file in storage.file.'],
  DATABASE_LOCKED: ['Another gateway uses the database', 'Stop it, or name another file in storage.file.'],
  DATABASE_UNWRITABLE: [
    'The database file cannot be opened',
    'Check the folder and its rights, or name another file in storage.file.',
  ],
})

/** As much of a process as hearing of its faults needs. */
export type ErrorSource = Pick<NodeJS.Process, 'on' | 'off'>

/**
 * Receives uncaught errors. What a plugin of the user threw, in a timer or a promise of its own, is reported as its fault and the process continues;
 * any other error leaves the gateway in an unknown state: `own` receives it. Returns a function that removes the handlers.
 */
export const onUncaught = (
  { culpritOf, fault }: Pick<Gateway, 'culpritOf' | 'fault'>,
  own: (error: unknown) => void,
  process: ErrorSource = globalThis.process,
): (() => void) => {
  const heard = (error: unknown): void => {
    const culprit = culpritOf(error)
    if (culprit === undefined) own(error)
    else fault(error, culprit)
  }
  process.on('uncaughtException', heard).on('unhandledRejection', heard)
  return () => void process.off('uncaughtException', heard).off('unhandledRejection', heard)
}

/** An error message with its place in a file, as compilers write it: `file:2:1: message`; without a place `file: message`. */
export const withFileLocation = (file: string, { message, place: { line, column } }: GuardError): string =>
  line === undefined || column === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`

/** The error of a failed write, by its system code and without other paths; `otherwise` says what to do. */
export const writeError = (file: string, cause: unknown, otherwise = 'Name another file.'): GuardError => {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const why = unwritten[code]
  return new GuardError(
    'USAGE',
    `${file} cannot be written: ${why === undefined ? message : `${why} (${code})`}. ${otherwise}`,
    { cause },
  )
}

const unwritten: Readonly<Record<string, string>> = {
  EACCES: 'it is not allowed to you',
  EEXIST: 'it is there already',
  EISDIR: 'a folder has that name',
  ENOENT: 'there is no such folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file stands where a folder is needed',
  EPERM: 'it is not allowed to you',
  EROFS: 'that file system is read-only',
}

/** The GuardError in a gateway's error response; INTERNAL for a body without one. */
export const errorFromResponse = (body: string): GuardError => {
  const { error } = shapeIn(body)
  const { code, type, message, known } = isJsonObject(error) ? error : {}
  const text = typeof message === 'string' ? message : undefined
  if (typeof code !== 'string') return new GuardError('INTERNAL', text)
  const unknown = {
    id: code,
    status: 500,
    type: typeof type === 'string' ? type : 'api_error',
    message: code,
    help: '',
  }
  const names = Array.isArray(known) ? known.filter((name) => typeof name === 'string') : undefined
  return new GuardError(unknown, text, names === undefined ? {} : { known: names })
}

const shapeIn = (body: string): Readonly<Record<string, unknown>> => {
  try {
    const value = readJson(body)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

const MAX_CAUSES = 8

/** A thrown value and what caused it, outermost first. Of what failed in several ways at once, the first. */
export const causesOf = (thrown: unknown): readonly unknown[] => {
  const causes: unknown[] = []
  for (let one = thrown; one !== undefined && causes.length < MAX_CAUSES && !causes.includes(one); one = causeOf(one))
    causes.push(one)
  return causes
}

const causeOf = (thrown: unknown): unknown => {
  try {
    if (!(thrown instanceof Error)) return undefined
    return thrown.cause ?? (thrown instanceof AggregateError ? thrown.errors[0] : undefined)
  } catch {
    return undefined
  }
}

/** What a thrown value and its causes say, the first line of each, without what is said already. */
export const causeTexts = (thrown: unknown): readonly string[] => {
  const texts: string[] = []
  for (const text of causesOf(thrown).map(firstLine))
    if (text !== '' && !texts.some((known) => known.includes(text))) texts.push(text)
  return texts.length === 0 ? [thrownText(thrown)] : texts
}

/** A plugin may throw anything, also what has no readable members. */
const firstLine = (thrown: unknown): string => {
  try {
    return (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1)[0] ?? ''
  } catch {
    return thrownText(thrown)
  }
}

/** The code of the system or of a library that a thrown value or one of its causes has, innermost first: `ECONNREFUSED`. Undefined for a mistake in code. */
export const causeCode = (thrown: unknown): string | undefined =>
  causesOf(thrown)
    .toReversed()
    .map((cause) => {
      try {
        const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
        return typeof code === 'string' ? code : undefined
      } catch {
        return undefined
      }
    })
    .find((code) => code !== undefined)

/** The text of a thrown value, with the name of its class, for a log. Anything can be thrown, also a value whose text throws. */
export const thrownText = (thrown: unknown): string => {
  try {
    if (typeof thrown === 'string') return thrown
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : inspect(thrown, { depth: 1 })
  } catch {
    return 'something that cannot be shown'
  }
}

/** The stack of a thrown value; empty where it has none that is text. */
export const thrownStack = (thrown: unknown): string => {
  try {
    const { stack } = thrown instanceof Error ? thrown : {}
    return typeof stack === 'string' ? stack : ''
  } catch {
    return ''
  }
}

/** What a validator of JSON Schema finds wrong in one place, as a verbose Ajv says it. */
interface Fault {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: object
  readonly parentSchema?: object
}

/**
 * INVALID_REQUEST for a part of a request, its `body` or `querystring`, that its schema refuses.
 * For a union it reports the branch that matched furthest into the value: that one was probably meant.
 */
export const schemaError = (faults: readonly Fault[], context: string): GuardError => {
  const path = faults.map(pointerOf).reduce((deepest, one) => (one.length > deepest.length ? one : deepest), '')
  const there = faults.filter((fault) => pointerOf(fault) === path && fault.keyword !== 'anyOf')
  const unknown = there.find(({ keyword }) => keyword === 'additionalProperties')
  if (unknown !== undefined) return unknownMember(unknown, path)
  const where = context === 'querystring' ? 'query' : context
  const texts = [...new Set(there.map(textOf))]
  const text = texts.map((one, index) => (index === 0 ? one : one.replace(/^must be /, ''))).join(' or ')
  return new GuardError(
    'INVALID_REQUEST',
    `The ${where}${path === '' ? '' : ` at ${path}`} ${text === '' ? 'cannot be used' : text}.`,
    { path },
  )
}

interface Params {
  readonly additionalProperty?: string
  readonly allowedValues?: readonly unknown[]
  readonly allowedValue?: unknown
}

const pointerOf = ({ instancePath, params }: Fault): string => {
  const { additionalProperty }: Params = params
  return additionalProperty === undefined ? instancePath : `${instancePath}/${pointerPart(additionalProperty)}`
}

/** A member that means nothing: ignoring it would promise what does not happen. */
const unknownMember = ({ params, parentSchema = {} }: Fault, path: string): GuardError => {
  const { additionalProperty = '' }: Params = params
  const { properties = {} }: { readonly properties?: object } = parentSchema
  const known = Object.keys(properties)
  const odd = additionalProperty.slice(0, 64)
  return new GuardError('INVALID_REQUEST', `"${odd}" cannot be set here; only ${known.join(', ')} can.`, {
    path,
    known,
  })
}

const textOf = ({ message = 'cannot be used', params: faultParams }: Fault): string => {
  const params: Params = faultParams
  if (params.allowedValue !== undefined) return `must be ${JSON.stringify(params.allowedValue)}`
  return params.allowedValues === undefined ? message : `${message}: ${params.allowedValues.join(', ')}`
}

/**
 * The candidate that `word` was most likely meant to be: at most half of the shorter one differs, and one letter may in any case.
 * Undefined if none is near, and for words under `min_length`, which are all near one another.
 */
export const nearest = (word: string, candidates: readonly string[], min_length = 3): string | undefined => {
  if (candidates.length === 0 || word.length < min_length) return undefined
  const best = closest(word, candidates)
  const limit = Math.max(1, Math.floor(Math.min(word.length, best.length) / 2))
  return distance(word, best) <= limit ? best : undefined
}
