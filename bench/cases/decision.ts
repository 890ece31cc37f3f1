import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import type { Bench } from 'tinybench'
import { bodyOf, callOf, conversationOf, type Measured, NOON, STAMP, stamp } from '../kit.ts'
import { type Judge, openJudge } from '../quality/judge.ts'
import { sessionAt } from '../quality/session.ts'
import { findSubjects } from '../quality/subjects.ts'

/** Requests per session. Each is one turn longer than the previous one, up to the length of the conversation. */
const REQUESTS = 20
const SECOND = 1000

/** The cost of a whole decision in growing sessions: request reading, threads and the verdict of every rule. */
export const register = async (bench: Bench): Promise<void> => {
  for (const preset of ['default', 'enforce-recommended']) {
    for (const kib of [1, 32, 512, 1024]) {
      let judge: Judge | undefined
      let task: () => Promise<Measured> = () => Promise.reject(new Error('the gateway is not open'))
      bench.add(`decision: ${preset}, ${kib} KB, history seen`, () => task(), {
        async: true,
        async beforeAll() {
          const { detectors, subjects } = await findSubjects({ detectors: [], presets: [preset] }, process.cwd())
          judge = await openJudge(
            detectors,
            subjects.flatMap(({ rules }) => rules),
          )
          task = deciding(judge, kib)
        },
        async afterAll() {
          await judge?.gateway.close()
        },
      })
    }
  }
}

/** One request at a time, in one session after another. Only the time from the body to the decision counts. */
const deciding = (judge: Judge, kib: number): (() => Promise<Measured>) => {
  const { untimed, next } = bodies(kib)
  let session = sessionAt('', NOON)
  let number = 0
  const ask = async (): Promise<number> => {
    const index = number % REQUESTS
    if (index === 0) session = sessionAt(`decision ${kib} ${number}`, NOON)
    const body = next(number++)
    session.open++
    const start = performance.now()
    const at = NOON + index * SECOND
    const call = { ...callOf(chatCompletions, body, session.row.id, at, judge.reader), session }
    const decision = await judge.decide(call)
    const spent = performance.now() - start
    await judge.settle(call, decision, { tokens: 20 })
    session.open--
    return index < untimed ? ask() : spent
  }
  return async () => {
    const spent = await ask()
    return { overriddenDuration: spent, overriddenIterationCost: spent }
  }
}

interface Bodies {
  /** The first requests of a session, which have no known history. */
  readonly untimed: number
  /** The body of a request. `number` counts the requests of all sessions. */
  next(number: number): Buffer
}

/** Conversations of `kib` KiB that grow by a turn per request. A small one is short and different for each request. */
const bodies = (kib: number): Bodies => {
  const conversation = conversationOf('chat_completions', kib)
  const last = conversation.ends.length - 1
  if (last >= REQUESTS) {
    const grown = Array.from({ length: REQUESTS }, (_, index) => bodyOf(conversation, last - REQUESTS + 1 + index))
    return { untimed: 2, next: (number) => grown[number % REQUESTS] ?? conversation.bytes }
  }
  const whole = bodyOf(conversation, last)
  return {
    untimed: 0,
    next: (number) => {
      stamp(whole, conversation.stamps, String(number).padStart(STAMP, '0'))
      return whole
    },
  }
}
