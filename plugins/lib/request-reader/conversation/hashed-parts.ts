import type { Part, ToolEffect } from 'guard-gateway/core'
import { shortSha256 } from 'guard-gateway/lib/ids'
import { effectOf } from 'guard-gateway/lib/tools'
import { contentHash } from './content-hash.ts'
import { canonical, inBodies } from './fingerprint.ts'
import { literal, type StringEncoding } from './string-encoding.ts'
import { withoutReminders } from './system-reminders.ts'
import { argumentText, callKey, resultSummary } from './tool-calls.ts'

/** A part of a conversation as hashes: the state that is cached between requests. */
export type HashedPart = HashedMessage | HashedText | HashedCall | HashedResult

export interface HashedMessage extends Omit<HashedText, 'kind'> {
  readonly kind: 'system' | 'user' | 'beside'
}

/** Text of an assistant turn. */
export interface HashedText {
  readonly kind: 'text'
  readonly full: string
  /** Null if the text is only reminders: then it is no item of a chain. */
  readonly chain: string | null
  readonly bytes: number
}

export interface HashedCall {
  readonly kind: 'call'
  readonly key: string
  readonly tool: string
  readonly id: string | null
  readonly effect: ToolEffect | null
  readonly bytes: number
}

export interface HashedResult {
  readonly kind: 'result'
  readonly full: string
  readonly id: string | null
  readonly result: string | null
  readonly error: boolean
  readonly passed: boolean
  readonly pending: boolean
  readonly served: boolean
  readonly bytes: number
}

/** Hashes one part. Equal content gives equal hashes in all API styles and string encodings. */
export const hashPart = (part: Part, strings: StringEncoding = literal.utf8): HashedPart => {
  // the text is hashed as it is encoded; all other values are compared and kept, so they are decoded
  switch (part.kind) {
    case 'call': {
      const tool = strings.decode(part.tool)
      const args = argumentText(strings.decode(part.args))
      return {
        kind: 'call',
        key: callKey(tool, args),
        tool,
        id: strings.decode(part.id) ?? null,
        effect: effectOf(tool, args),
        bytes: tool.length + args.length,
      }
    }
    case 'result': {
      const blocks = blockText(strings.decode(part.blocks))
      const { result, error, passed, pending, bytes } = resultSummary(part.text, blocks, part.error ?? null, strings)
      return {
        kind: 'result',
        full: result ?? '',
        id: strings.decode(part.id) ?? null,
        result,
        error,
        passed,
        pending,
        served: part.served === true,
        bytes,
      }
    }
    default:
      return hashText(part.kind, part.text, blockText(strings.decode(part.blocks)), strings)
  }
}

const hashText = (
  kind: 'system' | 'user' | 'beside' | 'text',
  string: string,
  blocks: string,
  strings: StringEncoding,
): HashedMessage | HashedText => {
  const known = blocks === '' ? strings.knownHash(string) : undefined
  if (known !== undefined) return { kind, full: known.hash, chain: known.hash, bytes: known.bytes }
  const { encoding } = strings
  const text = strings.expand(string)
  const { hash: full = EMPTY_HASH, bytes } = contentHash(text, blocks, encoding)
  if (!text.includes('<system-reminder>')) return { kind, full, chain: full, bytes }
  return { kind, full, chain: contentHash(withoutReminders(text), blocks, encoding).hash ?? null, bytes }
}

const EMPTY_HASH = shortSha256('')

const blockText = (blocks: readonly unknown[] | undefined): string =>
  blocks === undefined || blocks.length === 0 ? '' : blocks.map((block) => canonical(block, inBodies)).join('\n')
