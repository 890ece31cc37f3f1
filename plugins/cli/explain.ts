import { type Command, catalogue, type Gateway, isKnownCode } from 'guard-gateway/core'
import { recoveryHint } from 'guard-gateway/lib/errors'
import { suggestion } from './nearest.ts'
import { exits, printUsage } from './print.ts'

/** `guard explain <code>`: what an error code or the reason of a detector means and what to do. */
export const explain = ({ detectors }: Pick<Gateway, 'detectors'>): Command => ({
  id: 'explain',
  args: '<code>',
  summary: 'say what an error code means and what to do',
  // detectors of the user's own come after this command
  get choices() {
    return { code: codesOf(detectors) }
  },
  example: 'guard explain PORT_TAKEN',
  standalone: true,
  extensible: 'if_usable',
  async run({ args, options }, io) {
    const typed = args[0] ?? ''
    const code = typed.toUpperCase().replaceAll('-', '_')
    const entry = entryOf(code, detectors)
    if (entry === undefined) {
      const known = codesOf(detectors)
      const near = suggestion(code, known) || ` There is ${known.join(', ')}.`
      printUsage(`There is no code "${typed}".${near}`, options, io, '')
      return exits.failed
    }
    const [status, type, message, help] = entry
    if (options.json === true) io.out.write(`${JSON.stringify({ code, status, type, message, help })}\n`)
    else io.out.write(`${code}  HTTP ${status}  ${type}\n${message}.\n${help}\n`)
    return exits.done
  },
})

type Entry = readonly [status: number, type: string, message: string, help: string]

const codesOf = (detectors: Gateway['detectors']): readonly string[] => [
  ...new Set([...Object.keys(catalogue), ...[...detectors].map(({ code }) => code)]),
]

/** What the catalogue has; for the code of a detector of one's own, what is true of every detector. */
const entryOf = (code: string, detectors: Gateway['detectors']): Entry | undefined => {
  if (isKnownCode(code)) return catalogue[code]
  const detector = [...detectors].find((one) => one.code === code)
  return detector && [429, 'guard_block', `A rule of type ${detector.id} has matched`, recoveryHint(detector)]
}
