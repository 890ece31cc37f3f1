import type { CompiledRule } from '../compiled.ts'
import type { PolicyPath } from '../fault.ts'
import type { Lint } from '../lints.ts'

/** Integers of a rule's condition or changes that a double cannot hold. */
export const numberLints = ({ document: { id, when, transform }, index }: CompiledRule): readonly Lint[] =>
  Object.entries({ when, transform })
    .flatMap(([key, part]) => roundedIn(part, ['rules', index, key]))
    .map(({ path, value }) => ({
      code: 'NUMBER_ROUNDED',
      path,
      message: `rule "${id}" has an integer beyond 2^53, which is rounded to ${value}; so are the arguments that it meets`,
    }))

interface Rounded {
  readonly path: PolicyPath
  readonly value: number
}

const roundedIn = (part: unknown, path: PolicyPath): readonly Rounded[] => {
  if (typeof part === 'number')
    return Number.isInteger(part) && !Number.isSafeInteger(part) ? [{ path, value: part }] : []
  if (typeof part !== 'object' || part === null) return []
  const inner: readonly (readonly [string | number, unknown])[] = Array.isArray(part)
    ? [...part.entries()]
    : Object.entries(part)
  return inner.flatMap(([name, value]) => roundedIn(value, [...path, name]))
}
