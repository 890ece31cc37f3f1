import type { Finder } from 'guard-gateway/core'
import type { ConfigFault } from './faults.ts'

/** The users' patterns that cannot be used. */
export const patternFaults = async (patterns: readonly string[]): Promise<readonly ConfigFault[]> => {
  if (patterns.length === 0) return []
  const { RE2JS } = await import('re2js')
  const faultOf = (pattern: string): string | undefined => {
    try {
      return RE2JS.compile(pattern).matcher('').find() ? 'matches the empty text, and so everything' : undefined
    } catch (error) {
      return `is no pattern of RE2 syntax: ${(error as Error).message}`
    }
  }
  return patterns.flatMap((pattern, index) => {
    const message = faultOf(pattern)
    return message === undefined ? [] : [{ path: ['redaction', 'patterns', index], message }]
  })
}

/** Finders for the users' patterns; the time they take grows with the text only. */
export const patternFinders = async (patterns: readonly string[]): Promise<readonly Finder[]> => {
  if (patterns.length === 0) return []
  const { RE2JS } = await import('re2js')
  return patterns.map((pattern): Finder => {
    const compiled = RE2JS.compile(pattern)
    return (text, from) => {
      const matcher = compiled.matcher(text)
      for (let at = from; at <= text.length && matcher.find(at); at = matcher.end() + 1) {
        if (matcher.end() > matcher.start()) return [matcher.start(), matcher.end()]
      }
      return undefined
    }
  })
}
