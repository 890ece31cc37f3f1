import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { GuardError, type Io, readYaml, terminalLine, writeJson } from 'guard-gateway/core'
import { type Asked, type PolicyCommandOptions, policyPath } from './asked.ts'
import { changesBy } from './changes.ts'
import { policyLines, warningLines } from './command-show.ts'
import type { PolicyAnswer } from './schemas.ts'

/** What is to be put in force: what goes to the interface, and the same spelled out. */
interface Wanted {
  readonly body: object
  readonly document: unknown
}

/** Tells what would change, asks unless told not to, and replaces the policy of a project; 1 if the answer is no. Throws INVALID_POLICY, INVALID_YAML and USAGE. */
export const applyPolicy = async (asked: Asked, { presets }: PolicyCommandOptions): Promise<number> => {
  const { ask, input, io } = asked
  const { project = 'default', yes, json } = input.options
  const path = policyPath(project)
  const { body, document } = await wantedBy(input.args[0] ?? '', await presets(), io)
  const now = (await ask('GET', path)) as PolicyAnswer
  const changes = changesBy(document, now)
  for (const line of changes) io.err.write(`${line}\n`)
  if (changes.length === 0) io.err.write('Nothing changes.\n')
  if (yes !== true && !(await agreed(io, String(project)))) return 1
  const policy = (await ask('PUT', path, { ...body, expected_version: now.version })) as PolicyAnswer
  if (json === true) io.out.write(`${writeJson(policy)}\n`)
  else for (const line of policyLines(policy)) io.out.write(`${line}\n`)
  if (json !== true) for (const line of warningLines(policy)) io.err.write(`${line}\n`)
  return 0
}

/** A word that names a preset is one; anything else is a file. */
const wantedBy = async (name: string, presets: Readonly<Record<string, unknown>>, io: Io): Promise<Wanted> => {
  if (Object.hasOwn(presets, name)) return { body: { preset: name }, document: { rules: presets[name] } }
  const text = await readFile(resolve(io.cwd, name), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const known = Object.keys(presets)
    const why = cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`
    throw new GuardError(
      'INVALID_POLICY',
      `"${terminalLine(name)}" names no preset, and ${why}; presets are ${known.join(', ')}.`,
      { known, cause },
    )
  })
  const document = readYaml(await import('yaml'), text).value
  if (typeof document !== 'object' || document === null)
    throw new GuardError('INVALID_POLICY', `"${terminalLine(name)}" holds no policy and no list of rules.`)
  return { body: Array.isArray(document) ? { rules: document } : document, document }
}

/** Throws USAGE where nobody can be asked. */
const agreed = async ({ in: input, err }: Io, project: string): Promise<boolean> => {
  if (input === undefined || !('isTTY' in input) || input.isTTY !== true)
    throw new GuardError('USAGE', 'Nobody can be asked here; add --yes to apply.')
  const asks = createInterface({ input, output: err })
  try {
    const typed = await asks.question(`Apply this to project "${terminalLine(project)}"? [y/N] `)
    return /^y(es)?$/i.test(typed.trim())
  } finally {
    asks.close()
  }
}
