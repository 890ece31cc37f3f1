import { isUtf8 } from 'node:buffer'
import { GuardError } from 'guard-gateway/core'
import { readLongYaml, type YamlLocation } from '#lib/yaml'
import type { PolicyPath } from './fault.ts'

const MAX_BYTES = 1_048_576

/** A policy as it is in a file, and where its parts stand. */
export interface ReadPolicy {
  readonly value: unknown
  readonly locate: (path: PolicyPath) => YamlLocation
}

/** Reads the text of a policy, YAML or JSON, up to 1 MiB. Throws GuardError INVALID_YAML. */
export const readPolicy = async (content: Buffer | string): Promise<ReadPolicy> => {
  const text = typeof content === 'string' ? content : decoded(content)
  try {
    return await readLongYaml(import.meta.resolve('yaml'), text, { max_bytes: MAX_BYTES })
  } catch (error) {
    throw error instanceof GuardError && /alias/i.test(error.message) ? (strayAlias(text, error) ?? error) : error
  }
}

const decoded = (content: Buffer): string => {
  if (!isUtf8(content)) throw new GuardError('INVALID_YAML', 'The text is not valid UTF-8.', { line: 1, column: 1 })
  return content.toString('utf8')
}

const ALIAS = /(?<=^|[\s[{,])\*([^\s,\]}]*)/g
const ANCHOR = /&([^\s,\]}]+)/g

/** A tool pattern without quotes, `*` or `*_file`, which YAML takes for a reference to an anchor. */
const strayAlias = (text: string, cause: GuardError): GuardError | undefined => {
  const anchors = new Set(Array.from(text.matchAll(ANCHOR), ([, anchor]) => anchor))
  for (const [before, line] of text.split('\n').entries()) {
    const comment = line.indexOf('#')
    for (const { index, 0: written, 1: anchor = '' } of line.matchAll(ALIAS)) {
      if (comment !== -1 && comment < index) break
      if (anchors.has(anchor)) continue
      const place = { line: before + 1, column: index + 1 }
      const detail = `a value that begins with * must be in quotes: "${written}".`
      return new GuardError('INVALID_YAML', detail, { ...place, cause })
    }
  }
  return undefined
}
