import type { ErrorObject } from 'ajv'

/** A place within a value, and what is wrong there. */
export interface SchemaError {
  /** JSON pointer into the value; empty for the whole of it. */
  readonly pointer: string
  /** Ends a sentence that starts with the pointer: `must be string`. */
  readonly message: string
}

/** One error of a validation in words. */
export const schemaError = (error: ErrorObject | undefined): SchemaError => {
  const { instancePath = '', keyword, params, message = 'does not fit the schema' } = error ?? {}
  const extra = keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
  const name: unknown = params?.additionalProperty ?? params?.unevaluatedProperty
  return { pointer: instancePath, message: extra ? `must NOT have the property '${String(name)}'` : message }
}

const CHOICE = /^(?:anyOf|oneOf)$/
/** Each is compared with each; a large value can have any number. */
const MAX_ERRORS = 256

/** The errors of a validation in words, each once, of many the first 256. For a union that does not match, the nearest branch is reported. */
export const schemaErrors = (errors: readonly ErrorObject[]): readonly SchemaError[] => {
  const told = new Map<string, SchemaError>()
  for (const error of withoutBranches(errors.slice(0, MAX_ERRORS))) {
    const one = schemaError(error)
    told.set(`${one.pointer} ${one.message}`, one)
  }
  return [...told.values()]
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
export const faultsText = (faults: readonly SchemaError[]): string => {
  const told = faults.slice(0, MAX_REPORTED).map(({ pointer, message }) => `${pointer} ${message}`.trim())
  const more = faults.length - told.length
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
