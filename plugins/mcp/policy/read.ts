import { isUtf8 } from 'node:buffer'
import { GuardError, readYaml, type YamlPlace } from 'guard-gateway/core'
import type { PolicyPath } from './fault.ts'

const MAX_BYTES = 1_048_576

/** A policy as it stands in a file, and where its parts stand. */
export interface ReadPolicy {
  readonly value: unknown
  readonly locate: (path: PolicyPath) => YamlPlace
}

/** Reads the text of a policy, YAML or JSON, up to 1 MiB. Throws GuardError INVALID_YAML. */
export const readPolicy = async (content: Buffer | string): Promise<ReadPolicy> => {
  const text = typeof content === 'string' ? content : decoded(content)
  const yaml = await import('yaml')
  try {
    return readYaml(yaml, text, { max_bytes: MAX_BYTES })
  } catch (error) {
    throw error instanceof GuardError && /alias/i.test(error.message) ? (strayAlias(text, error) ?? error) : error
  }
}

const decoded = (content: Buffer): string => {
  if (!isUtf8(content)) throw new GuardError('INVALID_YAML', 'The text is not valid UTF-8.', { line: 1, column: 1 })
  return content.toString('utf8')
}

const ALIAS = /(?<=^|[\s[{,])\*([^\s,\]}]*)/gm

/** A tool pattern without quotes, `*` or `*_file`, which YAML takes for a reference to an anchor. */
const strayAlias = (text: string, cause: GuardError): GuardError | undefined => {
  for (const match of text.matchAll(ALIAS)) {
    const [written, anchor = ''] = match
    if (anchor !== '' && text.includes(`&${anchor}`)) continue
    const before = text.slice(0, match.index).split('\n')
    const last = before.at(-1) ?? ''
    if (last.includes('#')) continue
    const place = { line: before.length, column: last.length + 1 }
    const detail = `Line ${place.line}, column ${place.column}: a value that begins with * must be in quotes: "${written}".`
    return new GuardError('INVALID_YAML', detail, { ...place, cause })
  }
  return undefined
}
