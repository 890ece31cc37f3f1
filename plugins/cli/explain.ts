import { type Code, type Command, catalogue } from 'guard-gateway/core'
import { suggestion } from './nearest.ts'
import { exits, printUsage } from './print.ts'

const isCode = (text: string): text is Code => Object.hasOwn(catalogue, text)

/** `guard explain <code>`: what an error code means and what to do. */
export const explain: Command = {
  id: 'explain',
  args: '<code>',
  summary: 'say what an error code means and what to do',
  choices: { code: Object.keys(catalogue) },
  example: 'guard explain PORT_TAKEN',
  standalone: true,
  async run({ args, options }, io) {
    const typed = args[0] ?? ''
    const code = typed.toUpperCase().replaceAll('-', '_')
    if (!isCode(code)) {
      const known = Object.keys(catalogue)
      const near = suggestion(code, known) || ` There is ${known.join(', ')}.`
      printUsage(`There is no code "${typed}".${near}`, options, io, '')
      return exits.failed
    }
    const [status, type, message, help] = catalogue[code]
    if (options.json === true) io.out.write(`${JSON.stringify({ code, status, type, message, help })}\n`)
    else io.out.write(`${code}  HTTP ${status}  ${type}\n${message}.\n${help}\n`)
    return exits.done
  },
}
