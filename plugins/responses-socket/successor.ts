import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from '#lib/json'
import { memberValue } from '#lib/request-reader'
import type { HeldFrames } from './held-frames.ts'
import type { Lanes } from './lanes.ts'
import type { UpstreamEvent } from './upstream-event.ts'

/** A response that nobody has asked for by a request, as the request that it would have been. */
export interface Successor {
  readonly body: Buffer
  readonly stream_id: string | undefined
}

/** The request continues the response that the upstream names, with the input that steered it where some has. */
export const successorOf = (event: UpstreamEvent, message: Buffer, lanes: Lanes, steers: HeldFrames): Successor => {
  const response = responseIn(message)
  const previous_response_id = nonEmptyText(response.previous_response_id)
  const before = previous_response_id === null ? undefined : lanes.response(previous_response_id)
  const steer = previous_response_id === null ? undefined : steers.steerOf(previous_response_id)
  const model = nonEmptyText(response.model) ?? before?.model ?? ''
  const input = steer === undefined ? [] : inputOf(steer)
  const named = previous_response_id === null ? {} : { previous_response_id }
  return {
    body: Buffer.from(JSON.stringify({ type: 'response.create', model, ...named, input })),
    stream_id: event.stream_id ?? before?.stream_id,
  }
}

/** Nothing where a value inside is no JSON. */
const responseIn = (message: Buffer): JsonObject => {
  try {
    return jsonObjectOf(memberValue(message, 'response'))
  } catch {
    return {}
  }
}

const inputOf = (steer: Buffer): unknown => {
  const input = memberValue(steer, 'input')
  return typeof input === 'string' ? input : listOf(input)
}
