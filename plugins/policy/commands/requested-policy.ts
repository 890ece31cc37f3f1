import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { withFileLocation } from '#lib/errors'
import { isJsonObject } from '#lib/json'
import { terminalLine } from '#lib/text'
import { readYaml } from '#lib/yaml'

/** A policy that a command line names: the request body, and the document with its rules. */
export interface RequestedPolicy {
  readonly body: Readonly<Record<string, unknown>>
  readonly document: unknown
}

/** The policy of a preset's name, or else of a YAML or JSON file. Throws INVALID_POLICY and INVALID_YAML. */
export const requestedPolicy = async (
  name: string,
  presets: Readonly<Record<string, unknown>>,
  cwd: string,
): Promise<RequestedPolicy> => {
  if (Object.hasOwn(presets, name)) return { body: { preset: name }, document: { rules: presets[name] } }
  const text = await readFile(resolve(cwd, name), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const known = Object.keys(presets)
    const why = cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`
    throw new GuardError(
      'INVALID_POLICY',
      `"${terminalLine(name)}" names no preset, and ${why}; presets are ${known.join(', ')}.`,
      { known, cause },
    )
  })
  const document = await read(text, name)
  if (Array.isArray(document)) return { body: { rules: document }, document }
  if (isJsonObject(document)) return { body: document, document }
  throw new GuardError('INVALID_POLICY', `"${terminalLine(name)}" holds no policy and no list of rules.`)
}

const read = async (text: string, name: string): Promise<unknown> => {
  try {
    return readYaml(await import('yaml'), text).value
  } catch (cause) {
    if (!(cause instanceof GuardError)) throw cause
    throw new GuardError(cause.entry, withFileLocation(terminalLine(name), cause), { ...cause.place, cause })
  }
}
