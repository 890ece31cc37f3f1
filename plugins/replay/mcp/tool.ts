import type { Gateway, Reader } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import type { RunCache } from '../read/run-cache.ts'
import type { ToolArguments } from './tool-arguments.ts'

/** What tools read from. Reads see the projects of the client's key alone. */
export interface ToolContext {
  readonly gateway: Gateway
  readonly storage: Reader
  readonly cache: RunCache
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The result of a call: JSON that fits into one answer. */
export type Answer = Readonly<Record<string, unknown>>

/** A JSON schema of an object. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: JsonObject
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
}

/** A tool that reads. */
export interface ReadTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: ObjectSchema
  readonly output: ObjectSchema
  /** Throws GuardError for arguments that do not fit, and for what is not there. */
  call(args: ToolArguments, context: ToolContext): Promise<Answer>
}

/** Bytes of JSON that one answer has at most. */
export const ANSWER_BYTES = 16_384

export const isFitting = (answer: Answer): boolean => Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES

/** Asks for less until the answer fits; of one thing it is given as it is. */
export const fitting = async (most: number, read: (limit: number) => Promise<Answer>): Promise<Answer> => {
  for (let limit = most; ; limit = Math.max(1, Math.floor(limit / 2))) {
    const answer = await read(limit)
    if (limit === 1 || isFitting(answer)) return answer
  }
}
