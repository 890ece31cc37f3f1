import { thrownText } from './thrown-text.ts'

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
