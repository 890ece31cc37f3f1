import type { Part } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'
import { effectOf } from '#lib/tools'
import { contentHash } from './content-hash.ts'
import { canonical, inBodies } from './fingerprint.ts'
import { withoutReminders } from './system-reminders.ts'
import { argumentText, callKey, resultSummary } from './tool-calls.ts'
import type { OpenCall, Pairing } from './turns.ts'

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

export interface HashedCall extends OpenCall {
  readonly kind: 'call'
  readonly bytes: number
}

export interface HashedResult extends Omit<Pairing, 'call'> {
  readonly kind: 'result'
  readonly full: string
  readonly id: string | null
  readonly bytes: number
}

/** Hashes one part. Equal content gives equal hashes in all API styles. */
export const hashPart = (part: Part): HashedPart => {
  switch (part.kind) {
    case 'call': {
      const { tool } = part
      const args = argumentText(part.args)
      return {
        kind: 'call',
        key: callKey(tool, args),
        tool,
        id: part.id ?? null,
        effect: effectOf(tool, args),
        bytes: tool.length + args.length,
      }
    }
    case 'result': {
      const blocks = blockText(part.blocks)
      const { result, error, passed, pending, notice, bytes } = resultSummary(part.text, blocks, part.error ?? null)
      return {
        kind: 'result',
        full: result ?? '',
        id: part.id ?? null,
        result,
        error,
        passed,
        pending,
        notice,
        served: part.served === true,
        bytes,
      }
    }
    default:
      return hashText(part.kind, part.text, blockText(part.blocks))
  }
}

const hashText = (
  kind: 'system' | 'user' | 'beside' | 'text',
  text: string,
  blocks: string,
): HashedMessage | HashedText => {
  const { hash: full = EMPTY_HASH, bytes } = contentHash(text, blocks)
  if (!text.includes('<system-reminder>')) return { kind, full, chain: full, bytes }
  return { kind, full, chain: contentHash(withoutReminders(text), blocks).hash ?? null, bytes }
}

const EMPTY_HASH = shortSha256('')

const blockText = (blocks: readonly unknown[] | undefined): string =>
  blocks === undefined || blocks.length === 0 ? '' : blocks.map((block) => canonical(block, inBodies)).join('\n')
