import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Decision, Mode, Settled } from 'guard-gateway/core'

/** Expected decisions of a gateway, step by step: a line of `bench.case.v1`. */
export interface VectorCase {
  readonly schema: 'bench.case.v1'
  readonly id: string
  /** `must` follows from the specification. `should` is a decision beyond it. */
  readonly tier: 'must' | 'should'
  readonly style: 'chat_completions' | 'messages' | 'responses'
  readonly mode: Mode
  /** Default: the default policy. */
  readonly rules?: readonly object[]
  readonly steps: readonly VectorStep[]
}

/** A request with its reply and the expected decision, or an action on the session. */
export type VectorStep = RequestStep | { readonly pause: true } | { readonly resume: true }

export interface RequestStep {
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds since the start of the case. Default: one second after the previous step. */
  readonly at_ms?: number
  /** The client marks the request as a retry. */
  readonly retry?: boolean
  readonly reply?: {
    readonly status: number
    readonly error?: { readonly type: string; readonly message: string }
    readonly usage?: { readonly total_tokens: number }
    readonly calls?: Settled['reading']['calls']
    readonly response_id?: string
  }
  readonly expect: { readonly decision: Decision['decision']; readonly reason?: string }
}

/** The cases of the project. */
export const shippedVectors = async (): Promise<readonly VectorCase[]> => {
  const root = dirname(fileURLToPath(import.meta.resolve('guard-gateway/package.json')))
  const text = await readFile(join(root, 'bench/data/vectors.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as VectorCase)
}
