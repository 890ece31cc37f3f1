import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import type { Bench } from 'tinybench'
import { RequestReader } from '#lib/request-reader'
import { bodyOf, conversationOf, STAMP, stamp, times } from '../kit.ts'

const sizes = [
  [1, 500],
  [32, 50],
  [512, 4],
] as const

/** The cost of reading a request, by the share of it that is in the cache. */
export const register = (bench: Bench): void => {
  const reader = new RequestReader()
  for (const [kib, count] of sizes) {
    const conversation = conversationOf('chat_completions', kib)
    const last = conversation.ends.length - 1
    const bodies = [bodyOf(conversation, last - 1), bodyOf(conversation, last)] as const
    const fresh = Buffer.from(bodies[1])
    let number = 0
    bench.add(
      `fingerprint: JSON.parse alone, ${kib} KB`,
      times(count, () => JSON.parse(bodies[1].toString())),
    )
    bench.add(
      `fingerprint: the body before again, ${kib} KB`,
      times(count, () => reader.read(chatCompletions, bodies[1], `same ${kib}`)),
    )
    if (last > 0)
      bench.add(
        `fingerprint: one turn more or less, ${kib} KB`,
        times(count, (index) => reader.read(chatCompletions, index % 2 === 0 ? bodies[0] : bodies[1], `grown ${kib}`)),
      )
    bench.add(
      `fingerprint: never seen, ${kib} KB`,
      times(count, () => {
        stamp(fresh, conversation.stamps, String(number++).padStart(STAMP, '0'))
        return reader.read(chatCompletions, fresh, `new ${number}`)
      }),
    )
  }
}
