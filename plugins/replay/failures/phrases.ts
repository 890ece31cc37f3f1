const LETTERS = /[\p{L}\p{N}]+/gu
const HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

/** The words of a name in lower case, split at camel case and at all characters except letters and digits. */
export const wordsOf = (name: string): readonly string[] =>
  (name.replace(HUMPS, ' ').match(LETTERS) ?? []).map((word) => word.toLowerCase())

const standsAt = (words: readonly string[], phrase: readonly string[], at: number): boolean =>
  phrase.every((word, index) => words[at + index] === word) && !(phrase[0] === 'loop' && words[at - 1] === 'event')

/** True if the words contain one of the phrases. `event loop` is a runtime term and no loop. */
export const holds = (words: readonly string[], phrases: readonly (readonly string[])[]): boolean =>
  phrases.some((phrase) => words.some((_, at) => standsAt(words, phrase, at)))

/** True if the words end with one of the phrases. */
export const endsIn = (words: readonly string[], phrases: readonly (readonly string[])[]): boolean =>
  phrases.some((phrase) => phrase.length <= words.length && standsAt(words, phrase, words.length - phrase.length))

const phrases = (...texts: readonly string[]): readonly (readonly string[])[] => texts.map((text) => text.split(' '))

export const LOOP = phrases('loop')
export const LOOP_DETECTED = phrases('loop detected')
export const TIMED_OUT = phrases('timed out')
export const TIMEOUT = phrases('timeout')
export const TIMEOUTS = phrases('timeout', 'timed out')
export const TIMEOUT_REASONS = phrases('timeout', 'timed out', 'etimedout', 'deadline exceeded')
export const RATE_LIMITS = phrases('rate limit', 'rate limited', 'ratelimit', 'too many requests')
export const POLICY_BLOCKS = phrases('policy block', 'policy blocked', 'policy denied')
export const TESTS = phrases('test', 'tests', 'pytest', 'unittest', 'jest', 'vitest', 'mocha', 'junit', 'rspec')
export const FAILED = phrases('failed', 'failure', 'error')
export const PASSED = phrases('passed', 'pass', 'success', 'succeeded')

const MAX_REMEMBERED = 4_096
const MAX_LENGTH = 256

/** Computes once per name. The cache is bounded, because names come from clients. */
export const memoized = <T extends object>(compute: (name: string) => T): ((name: string) => T) => {
  const known = new Map<string, T>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const value = compute(name)
    if (name.length <= MAX_LENGTH) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.set(name, value)
    }
    return value
  }
}
