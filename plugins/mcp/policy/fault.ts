import { nearest } from '#lib/errors'
import { pointerOf } from '#lib/json'
import type { YamlLocation } from '#lib/yaml'

/** Keys and positions from the whole policy inwards. */
export type PolicyPath = readonly (string | number)[]

/** Something wrong with a policy, without its line and column in the text. */
export interface PolicyFault {
  readonly path: PolicyPath
  /** What is at the place to show, where that is not `path`. */
  readonly at?: PolicyPath
  readonly message: string
}

/** Something in a valid policy that promises less than it seems to. */
export interface Lint {
  readonly code: string
  readonly path: PolicyPath
  readonly message: string
}

/** An error or a warning of a policy, as it is reported. */
export interface LocatedFault {
  /** A code of the catalogue for an error, of a lint for a warning. */
  readonly code: string
  /** JSON pointer; empty for the whole. */
  readonly path: string
  /** From 1; null where the policy came as data. */
  readonly line: number | null
  readonly column: number | null
  readonly message: string
}

/** The fault at its place; `locate` is undefined for a policy that came as data. */
export const locatedFault = (
  code: string,
  { path, at, message }: PolicyFault,
  locate: ((path: PolicyPath) => YamlLocation) | undefined,
): LocatedFault => {
  const place = locate?.(at ?? path)
  return { code, path: pointerOf(path), line: place?.line ?? null, column: place?.column ?? null, message }
}

/** `; did you mean "x"?`, or nothing where no candidate is near. */
export const suggestion = (word: string, candidates: readonly string[]): string => {
  const best = nearest(word, candidates, 2)
  return best === undefined ? '' : `; did you mean "${best}"?`
}
