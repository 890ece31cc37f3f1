import type { ErrorObject } from 'ajv'
import { pointerKeys, pointerPart } from '#lib/json'
import { withoutQuoted } from '#lib/text'

/** A place within a value, and what is wrong there. */
export interface SchemaError {
  /** JSON pointer into the value; empty for the whole of it. */
  readonly pointer: string
  /** Ends a sentence that starts with the pointer: `must be string`. */
  readonly message: string
  /** Both without a name that the schema does not hold: whoever sends the value chooses that, so it may be content. */
  readonly recorded: { readonly pointer: string; readonly message: string }
}

/** What an error is about. */
export interface Validated {
  readonly value: unknown
  /** Names of all members in the schema. */
  readonly names: () => ReadonlySet<string>
}

/** Stands for a name that is left out. */
const LEFT_OUT = '…'

/** One error of a validation in words. */
export const schemaError = (error: ErrorObject | undefined, { value, names }: Validated): SchemaError => {
  const { instancePath = '', keyword, params, message = 'does not fit the schema' } = error ?? {}
  const extra = keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
  const name: unknown = params?.additionalProperty ?? params?.unevaluatedProperty
  return {
    pointer: instancePath,
    message: extra ? `must NOT have the property '${String(name)}'` : message,
    recorded: {
      pointer: instancePath === '' ? '' : recordedPointer(instancePath, names(), value),
      message: extra ? 'must NOT have a property that the schema does not name' : message,
    },
  }
}

const POSITION = /^\d{1,6}$/

/** A pointer as records keep it: names that may be shown, and positions in lists of the value, which is too large to be read where it is absent. */
const recordedPointer = (pointer: string, names: ReadonlySet<string>, value?: unknown): string => {
  let at = value
  return pointerKeys(pointer)
    .map((key) => {
      const isShown = names.has(key) || (value === undefined ? POSITION.test(key) : Array.isArray(at))
      at = typeof at === 'object' && at !== null ? (at as Readonly<Record<string, unknown>>)[key] : undefined
      return `/${isShown ? pointerPart(key) : LEFT_OUT}`
    })
    .join('')
}

/** The place and reason of a finding as records keep them: whoever sends a value chooses other names and what is quoted. */
export const recordedFinding = <F extends { readonly pointer: string; readonly reason: string }>(
  finding: F,
  names: ReadonlySet<string>,
  value?: unknown,
): F => ({
  ...finding,
  pointer: recordedPointer(finding.pointer, names, value),
  reason: withoutQuoted(finding.reason, (word) => names.has(word)),
})

/** Names of all members in a schema. Recurses, no deeper than schemas nest. */
export const namesIn = (part: unknown, names = new Set<string>()): ReadonlySet<string> => {
  if (typeof part !== 'object' || part === null) return names
  for (const [name, inner] of Object.entries(part)) {
    if (!Array.isArray(part)) names.add(name)
    namesIn(inner, names)
  }
  return names
}

const CHOICE = /^(?:anyOf|oneOf)$/
/** Each is compared with each; a large value can have any number. */
const MAX_ERRORS = 256

/** The errors of a validation in words, each once, of many the first 256. For a union that does not match, the nearest branch is reported. */
export const schemaErrors = (errors: readonly ErrorObject[], validated: Validated): readonly SchemaError[] => {
  const reported = new Map<string, SchemaError>()
  for (const error of withoutBranches(errors.slice(0, MAX_ERRORS))) {
    const one = schemaError(error, validated)
    reported.set(`${one.pointer} ${one.message}`, one)
  }
  return [...reported.values()]
}

/** Errors of branches stand before that of their choice; those of a choice within a branch are taken first. */
const withoutBranches = (errors: readonly ErrorObject[]): readonly ErrorObject[] => {
  let left = errors
  for (const choice of errors) {
    if (!CHOICE.test(choice.keyword)) continue
    const branches = Map.groupBy(
      left.filter((one) => one !== choice && branchOf(one, choice) !== undefined),
      (one) => branchOf(one, choice),
    )
    const [nearest, ...others] = [...branches.values()].toSorted((one, other) => one.length - other.length)
    if (nearest === undefined) continue
    const gone = new Set([choice, ...others.flat()])
    left = left.filter((one) => !gone.has(one))
  }
  return left
}

/** The branch of a choice that an error is about; undefined for one about something else. */
const branchOf = ({ schemaPath, instancePath }: ErrorObject, choice: ErrorObject): string | undefined => {
  const { schemaPath: at } = choice
  if (!schemaPath.startsWith(`${at}/`) || !instancePath.startsWith(choice.instancePath)) return undefined
  return /^\d+/.exec(schemaPath.slice(at.length + 1))?.[0]
}

/** The most errors that are reported of one call. */
const MAX_REPORTED = 20

/** Faults as the end of a sentence: `/path must be string; /mode must be equal to one of the allowed values`. */
export const faultsText = (faults: readonly SchemaError['recorded'][]): string => {
  const reported = faults.slice(0, MAX_REPORTED).map(({ pointer, message }) => `${pointer} ${message}`.trim())
  const more = faults.length - Math.min(faults.length, MAX_REPORTED)
  return [...new Set(reported), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

/** The same for records, which keep no name that the schema does not hold. */
export const recordedText = (faults: readonly SchemaError[]): string =>
  faultsText(faults.map(({ recorded }) => recorded))
