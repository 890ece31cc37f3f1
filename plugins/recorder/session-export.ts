import type { Reader, SessionRow } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { pages } from '#lib/paging'
import { type CallRecord, rowOf } from '#lib/trace'
import { history } from './history.ts'

/** A session with its calls and its history, oldest first, as one JSON object. */
export async function* sessionJson(storage: Reader, session: SessionRow, now: number): AsyncGenerator<string> {
  yield `{"schema":"session.v1","exported_at":"${new Date(now).toISOString()}","session":${writeJson(session)},"calls":[`
  yield* elements(pages(storage, 'calls', { where: { session_id: session.id }, order: ['recorded', 'asc'] }), withTurns)
  yield '],"events":['
  yield* elements(history(storage, session.id))
  yield ']}\n'
}

/** Turns in their exported form. */
const withTurns = (record: CallRecord) => {
  const { turns: _turns, ...call } = record
  const { new_turns, user_first } = rowOf(record)
  return { ...call, new_turns, user_first }
}

async function* elements<T>(
  lists: AsyncIterable<readonly T[]>,
  render: (element: T) => unknown = (element) => element,
): AsyncGenerator<string> {
  let separator = '\n'
  for await (const list of lists) {
    let text = ''
    for (const element of list) {
      text += separator + writeJson(render(element))
      separator = ',\n'
    }
    if (text !== '') yield text
  }
}
