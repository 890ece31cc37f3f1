import type { Attempt } from './call.ts'
import { type Code, catalogue, type ErrorCode } from './errors/catalogue.ts'

/** Where and how an error came about; `detail` says what was wanted and what there is. */
export interface ErrorPlace {
  readonly cause?: unknown
  /** JSON pointer or dotted key of the part that is wrong. */
  readonly path?: string
  readonly line?: number
  readonly column?: number
  /** The names there are, where one was asked for that is not. */
  readonly known?: readonly string[]
  /** The state that a record is in, where another one was needed. */
  readonly state?: string
  /** Session and rule that a block tells of; empty where there is none. */
  readonly block?: { readonly session_id: string; readonly rule_id: string }
  /** Every try at an upstream, where none answered. */
  readonly attempts?: readonly Attempt[]
  /** Response headers that belong to the error, for example `allow`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error with a stable code; its message may be shown to whoever sent the request. */
export class GuardError extends Error {
  readonly code: string
  readonly entry: ErrorCode
  readonly place: ErrorPlace
  constructor(code: Code, detail?: string, place: ErrorPlace = {}) {
    const entry = typeof code === 'object' ? code : entryOf(code)
    super(detail ?? `${entry.message}. ${entry.help}`, place.cause === undefined ? undefined : { cause: place.cause })
    if (place.headers !== undefined) checkHeaders(place.headers)
    this.name = 'GuardError'
    this.code = entry.id
    this.entry = entry
    this.place = place
  }
  get status(): number {
    return this.entry.status
  }
  get type(): string {
    return this.entry.type
  }
}

/** A plugin in JavaScript can throw any name: that of no code is a fault of the plugin. */
const entryOf = (code: keyof typeof catalogue): ErrorCode =>
  Object.hasOwn(catalogue, code)
    ? catalogue[code]
    : {
        ...catalogue.INTERNAL,
        id: String(code),
        message: `The gateway has no error code ${String(code)}`,
        help: 'Whoever wrote the plugin that threw it: use one that "guard explain" knows, or make your own with errorCodes().',
      }

/** Throws a TypeError for a header that no answer could carry. */
const checkHeaders = (headers: Readonly<Record<string, string>>): void => {
  // loaded late: most programs that know errors serve nothing
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}

/** Whether a thrown value is a fault of the gateway or of a plugin, and no refusal: such values are reported. */
export const isFault = (thrown: unknown): boolean =>
  !(thrown instanceof GuardError) || (thrown.status === 500 && thrown.type === 'api_error')

/** The `error` member of an error answer. */
export interface ErrorBody {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly path?: string
  readonly line?: number
  readonly column?: number
  readonly known?: readonly string[]
  /** The state that a record is in, where another one was needed. */
  readonly status?: string
  readonly session_id?: string
  readonly rule_id?: string
}

/** The answer's `error` member for any thrown value; what is not a GuardError says nothing of its inside. */
export const errorBody = (error: unknown): ErrorBody => {
  if (!(error instanceof GuardError)) {
    return { type: catalogue.INTERNAL.type, code: 'INTERNAL', message: new GuardError('INTERNAL').message }
  }
  const { path, line, column, known, state, block } = error.place
  return {
    type: error.type,
    code: error.code,
    message: error.message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(known === undefined ? {} : { known }),
    ...(state === undefined ? {} : { status: state }),
    ...block,
  }
}

/** The HTTP status of an error; 500 where it is none of ours. */
export const statusOf = (error: unknown): number => (error instanceof GuardError ? error.status : 500)
