import { createRequire } from 'node:module'
import type { Finder } from 'guard-gateway/core'
import type { ConfigError } from './config-errors.ts'

/** Loads the engine only if patterns are configured. It loads synchronously, because plugins are applied so. */
const engine = () => (createRequire(import.meta.url)('re2js') as typeof import('re2js')).RE2JS

/** Errors of the configured patterns. */
export const patternErrors = (patterns: readonly string[]): readonly ConfigError[] => {
  if (patterns.length === 0) return []
  const RE2JS = engine()
  const patternError = (pattern: string): string | undefined => {
    try {
      return RE2JS.compile(pattern).matcher('').find() ? 'matches the empty text, and so everything' : undefined
    } catch (error) {
      return `is no pattern of RE2 syntax: ${(error as Error).message}`
    }
  }
  return patterns.flatMap((pattern, index) => {
    const message = patternError(pattern)
    return message === undefined ? [] : [{ path: ['redaction', 'patterns', index], message }]
  })
}

/** Finders of the configured patterns. Their time is linear in the text. */
export const patternFinders = (patterns: readonly string[]): readonly Finder[] => {
  if (patterns.length === 0) return []
  const RE2JS = engine()
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
