import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { writeJson } from '#lib/json'
import { verdictSymbols } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { fileContent, textOption } from './command-files.ts'
import type { LocatedFault } from './fault.ts'
import { readTools } from './listed-tool.ts'
import type { TestResult } from './tests.ts'
import { type Validation, validatePolicy } from './validate.ts'

/** Prints what is wrong with a policy file, what is worth a warning, and how its tests went; 0 if it can be used, else 1. */
export const validateFile = async (gateway: Gateway, { args, options }: Input, io: Io): Promise<number> => {
  const [file] = args
  if (file === undefined) throw new GuardError('USAGE', 'Name the policy file.')
  const text = await fileContent(file, io)
  const toolFile = textOption(options, 'tools')
  const tools = toolFile === undefined ? {} : { tools: readTools(await fileContent(toolFile, io), toolFile) }
  const validation = await validatePolicy(
    gateway,
    { text },
    { env: io.env, own_files: [...gateway.ownFiles], ...tools },
  )
  const passes = validation.valid && !(options.strict === true && validation.warnings.length > 0)
  io.out.write(options.json === true ? `${writeJson(validation)}\n` : report(validation, file, passes, io))
  return passes ? 0 : 1
}

const report = ({ version, errors, warnings, tests }: Validation, file: string, passes: boolean, io: Io): string => {
  const name = terminalLine(file)
  const lines = [
    ...errors.map((error) => faultLine(error, name, 'error', '')),
    ...warnings.map((warning) => faultLine(warning, name, 'warning', `${warning.code} `)),
  ]
  if (errors.length > 0) return `${[...lines, 'invalid (tests not run)'].join('\n')}\n`
  const failed = tests.filter(({ pass }) => !pass)
  const count = failed.length === 0 ? '' : `, ${failed.length} failed`
  const ran = tests.length === 0 ? 'tests: none' : `tests: ${tests.length - failed.length} passed${count}`
  const valid = passes ? `valid  version ${String(version).slice(0, 12)}` : 'invalid'
  return `${[...lines, ran, ...failed.map((test) => `  ${verdictSymbols(io).bad} ${testLine(test)}`), valid].join('\n')}\n`
}

const faultLine = ({ line, column, path, message }: LocatedFault, name: string, kind: string, code: string): string => {
  const place = line === null ? name : `${name}:${line}:${column}`
  // Warnings name their rule; only of an error is it not clear without its path what is meant.
  const where = kind === 'warning' || path === '' ? '' : `${path.slice(1)}: `
  return `${place}  ${kind.padEnd(7)}  ${code}${terminalLine(`${where}${message}`)}`
}

const testLine = ({ name, expected, actual, rule }: TestResult): string =>
  terminalLine(`${name}  expected ${expected}, got ${actual} (rule ${rule})`)
