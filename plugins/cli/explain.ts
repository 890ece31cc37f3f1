import type { ErrorCode, Gateway } from 'guard-gateway/core'
import type { Command } from '#lib/command'
import { recoveryHint } from '#lib/errors'
import { exits, printUsage } from './print.ts'
import { suggestion } from './suggestion.ts'

type Known = Pick<Gateway, 'detectors' | 'errorCodes'>

/** `guard explain <code>`: what an error code or the reason of a detector means and what to do. */
export const explain = (known: Known): Command => ({
  id: 'explain',
  args: '<code>',
  summary: 'say what an error code means and what to do',
  // detectors of the user's own come after this command
  get choices() {
    return { code: codesOf(known) }
  },
  example: ['guard explain PORT_TAKEN', 'guard explain loop_exact'],
  paged: true,
  standalone: true,
  extensible: 'if_usable',
  async run({ args, options }, io) {
    const typed = args[0] ?? ''
    const code = typed.toUpperCase().replaceAll('-', '_')
    const entry = entryOf(code, known)
    if (entry === undefined) {
      const near = nearText(code, codesOf(known))
      printUsage(`There is no code "${typed}".${near}`, options, io, '')
      return exits.failed
    }
    const { status, type, message, help } = entry
    if (options.json === true) io.out.write(`${JSON.stringify({ code, status, type, message, help })}\n`)
    else io.out.write(`${code}  HTTP ${status}  ${type}\n${message}.\n${help}\n`)
    return exits.done
  },
})

/** The nearest code, else those that hold what was typed, else those of its letter. */
const nearText = (typed: string, codes: readonly string[]): string => {
  const near = suggestion(typed, codes)
  if (near !== '') return near
  const holding = codes.filter((code) => code.includes(typed))
  const alike = holding.length > 0 ? holding : codes.filter((code) => code.startsWith(typed.charAt(0)))
  return alike.length === 0 ? '' : ` There is ${alike.join(', ')}.`
}

const codesOf = ({ detectors, errorCodes }: Known): readonly string[] => [
  ...new Set([...errorCodes.ids(), ...[...detectors].map(({ code }) => code)]),
]

/** An error code, or the reason of a detector. */
const entryOf = (code: string, { detectors, errorCodes }: Known): ErrorCode | undefined => {
  const detector = [...detectors].find((one) => one.code === code)
  if (detector === undefined) return errorCodes.get(code)
  const message = detector.summary ?? `A rule of type ${detector.id} has matched`
  return { id: code, status: 429, type: 'guard_block', message, help: recoveryHint(detector) }
}
