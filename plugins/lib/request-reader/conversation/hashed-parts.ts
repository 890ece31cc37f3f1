import type { Part, ToolEffect } from 'guard-gateway/core'
import { shortSha256 } from 'guard-gateway/lib/ids'
import { effectOf } from 'guard-gateway/lib/tools'
import { contentHash } from './content-hash.ts'
import { canonical, inBodies, withoutReminders } from './fingerprint.ts'
import { literal, type Wording } from './string-encoding.ts'
import { argumentText, callKey, resultPrint } from './tool-calls.ts'

/** A part of a conversation as hashes: what is kept of it between requests. */
export type Piece = MessagePiece | TextPiece | CallPiece | ResultPiece

export interface MessagePiece extends Omit<TextPiece, 'kind'> {
  readonly kind: 'system' | 'user' | 'beside'
}

/** Text of an assistant turn. */
export interface TextPiece {
  readonly kind: 'text'
  readonly full: string
  /** Null where nothing but reminders stands: no item of a chain. */
  readonly chain: string | null
  readonly bytes: number
}

export interface CallPiece {
  readonly kind: 'call'
  readonly key: string
  readonly tool: string
  readonly id: string | null
  readonly effect: ToolEffect | null
  readonly bytes: number
}

export interface ResultPiece {
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

/** Hashes one part; equal content gives equal hashes, whatever dialect and wording it came in. */
export const pieceOf = (part: Part, wording: Wording = literal.utf8): Piece => {
  // a text can be hashed as it stands, all else is compared and kept
  switch (part.kind) {
    case 'call': {
      const tool = wording.told(part.tool)
      const args = argumentText(wording.told(part.args))
      return {
        kind: 'call',
        key: callKey(tool, args),
        tool,
        id: wording.told(part.id) ?? null,
        effect: effectOf(tool, args),
        bytes: tool.length + args.length,
      }
    }
    case 'result': {
      const blocks = blockText(wording.told(part.blocks))
      const { result, error, passed, pending, bytes } = resultPrint(part.text, blocks, part.error ?? null, wording)
      return {
        kind: 'result',
        full: result ?? '',
        id: wording.told(part.id) ?? null,
        result,
        error,
        passed,
        pending,
        served: part.served === true,
        bytes,
      }
    }
    default:
      return textPiece(part.kind, part.text, blockText(wording.told(part.blocks)), wording)
  }
}

const textPiece = (
  kind: 'system' | 'user' | 'beside' | 'text',
  string: string,
  blocks: string,
  wording: Wording,
): MessagePiece | TextPiece => {
  const known = blocks === '' ? wording.known(string) : undefined
  if (known !== undefined) return { kind, full: known.hash, chain: known.hash, bytes: known.bytes }
  const { encoding } = wording
  const text = wording.spelled(string)
  const { hash: full = NOTHING, bytes } = contentHash(text, blocks, encoding)
  if (!text.includes('<system-reminder>')) return { kind, full, chain: full, bytes }
  return { kind, full, chain: contentHash(withoutReminders(text), blocks, encoding).hash ?? null, bytes }
}

const NOTHING = shortSha256('')

const blockText = (blocks: readonly unknown[] | undefined): string =>
  blocks === undefined || blocks.length === 0 ? '' : blocks.map((block) => canonical(block, inBodies)).join('\n')
