import { pointerPart } from 'guard-gateway/lib/json'
import { foldName } from 'guard-gateway/lib/json-rpc'
import type { Arguments } from 'guard-gateway/lib/mcp-check'
import type { Segments } from '../actions/changes.ts'

/** An argument key that a lax server might take for one the rule names, and the one it looks like. */
export interface Lookalike {
  /** JSON pointer into the arguments. */
  readonly pointer: string
  readonly similar_to: string
}

/** The first key in the arguments that looks like one of `named`, at its place, without being equal to it; whether that one is there or not. */
export const lookalike = (args: Arguments, named: readonly Segments[]): Lookalike | undefined => {
  for (const segments of named) {
    const found = similarKey(args, segments, 0, '')
    if (found !== undefined) return found
  }
  return undefined
}

const similarKey = (value: unknown, segments: Segments, depth: number, pointer: string): Lookalike | undefined => {
  const name = segments[depth]
  if (name === undefined || typeof value !== 'object' || value === null) return undefined
  const keys = Object.keys(value)
  const similar = Array.isArray(value) || name === '*' ? undefined : lookalikeOf(keys, name)
  if (similar !== undefined) return { pointer: `${pointer}/${pointerPart(similar)}`, similar_to: name }
  if (depth === segments.length - 1) return undefined
  for (const key of keys) {
    if (key !== name && name !== '*') continue
    const found = similarKey((value as Arguments)[key], segments, depth + 1, `${pointer}/${pointerPart(key)}`)
    if (found !== undefined) return found
  }
  return undefined
}

const lookalikeOf = (keys: readonly string[], name: string): string | undefined => {
  const folded = foldName(name)
  return keys.find((key) => key !== name && foldName(key) === folded)
}
